// Shows states that normally depend on the pointer or the focus. For example, the attribute `data-state="hover"` applies the rules of
// `:hover` permanently.

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

/** Copies all rules that depend on a state. The copies depend on the attribute `data-state` instead. */
export const forceStates = (): void => [...document.styleSheets].forEach(copy);
