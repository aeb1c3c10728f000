// States that normally depend on the pointer or the focus, shown permanently: `data-state="hover"` selects the rules of `:hover`.

const STATE = /:(hover|active|focus-visible)\b/g;

function copy(rules: CSSStyleSheet | CSSGroupingRule): void {
  [...rules.cssRules].toReversed().forEach((rule, k, { length }) => {
    if (rule instanceof CSSStyleRule) {
      const forced = rule.selectorText.replace(STATE, '[data-state="$1"]');
      // The copy directly follows its rule, so that the order of the rules stays the same.
      if (forced !== rule.selectorText) rules.insertRule(`${forced} { ${rule.style.cssText} }`, length - k);
    } else if (rule instanceof CSSGroupingRule) copy(rule);
  });
}

/** Copies the rules of all style sheets that depend on a state. */
export const forceStates = (): void => [...document.styleSheets].forEach(copy);
