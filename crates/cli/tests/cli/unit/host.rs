//! Tests of the name of the processor.

use cli::internals::processor_in;

#[test]
fn processor_name_is_read_from_cpuinfo() {
    let text = "processor\t: 0\ncpu family\t: 25\nmodel\t\t: 1\nmodel name\t: AMD EPYC 7R13 Processor\nflags\t: avx2\n\nprocessor\t: 1\n";
    assert_eq!(processor_in(text).unwrap(), "AMD EPYC 7R13 Processor (family 25, model 1)");
    assert_eq!(processor_in("processor : 0\nBogoMIPS : 243.75\n"), None);
}
