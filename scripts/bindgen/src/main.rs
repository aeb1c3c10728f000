//! `bindgen page|tests MODULE.wasm FOLDER`: writes a wasm module and its JavaScript for browsers into a folder, as `lab.js` for the
//! page or as `tests.js` for `scripts/wasm-tests.mjs`.
use anyhow::{Result, bail};
use wasm_bindgen_cli_support::Bindgen;

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [what, module, folder] = &args[..] else { bail!("usage: bindgen page|tests MODULE.wasm FOLDER") };
    let mut bindgen = Bindgen::new();
    bindgen.web(true)?.input_path(module).omit_default_module_path(false);
    match what.as_str() {
        // Panic messages contain file and line, so function names are removed. Function names would increase the download size by a third.
        "page" => bindgen.out_name("lab").remove_name_section(true).remove_producers_section(true),
        // Tests are plain exports, which scripts call through `__wasm`. The module's start function is not used.
        "tests" => bindgen.out_name("tests").debug(true).export_wasm(true).emit_start(false),
        other => bail!("'{other}' is neither page nor tests"),
    };
    bindgen.generate(folder)
}
