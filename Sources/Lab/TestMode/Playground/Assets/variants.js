// The mock wallet's ways of answering, by name.

import { byId, element, names } from "./dom.js";

export class VariantList {
  constructor(groups) {
    this.groups = groups;
    /** Whether a proof is asked for, for which other ways of answering hold. */
    this.provesDocuments = false;
    byId("variant-filter").addEventListener("input", () => this.fill());
    byId("answer-protocol").addEventListener("change", () => this.fill());
    byId("variant").addEventListener("change", () => this.describe());
  }

  get chosen() {
    const name = byId("variant").value;
    return this.groups.flatMap((group) => group.variants).find((variant) => variant.name === name);
  }

  /** Those of the protocol that have every word of the filter; the choice stays where it is among them. */
  fill() {
    const protocol = byId("answer-protocol").value;
    const words = byId("variant-filter").value.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = ({ name, summary, codes, protocols, needs_proof }) => {
      const text = [name, summary, ...codes].join(" ").toLowerCase();
      const isOfThisKind = name === "good" || needs_proof === this.provesDocuments;
      return isOfThisKind && protocols.includes(protocol) && words.every((word) => text.includes(word));
    };
    const select = byId("variant");
    const before = select.value;
    const groups = this.groups.map((group) => ({ ...group, variants: group.variants.filter(fits) }))
      .filter((group) => group.variants.length > 0);
    select.replaceChildren(...groups.map((group) =>
      element("optgroup", { label: group.name }, ...group.variants.map(({ name }) =>
        element("option", { value: name }, name)))));
    const found = groups.flatMap((group) => group.variants.map(({ name }) => name));
    if (found.length > 0) select.value = found.includes(before) ? before : found[0];
    this.describe();
  }

  describe() {
    const variant = this.chosen;
    byId("answer-mock").disabled = variant === undefined;
    byId("variant-about").replaceChildren(
      element("p", {}, variant === undefined ? "No way of answering has this." : variant.summary),
      ...(variant === undefined ? [] : [element("p", { class: "hint" }, ...expectation(variant))]));
  }
}

function expectation({ codes, warnings }) {
  const verdict = codes.length === 0 ? ["To be verified"] : ["To be rejected: ", ...names(codes)];
  return warnings.length === 0 ? [...verdict, "."] : [...verdict, "; warns: ", ...names(warnings), "."];
}
