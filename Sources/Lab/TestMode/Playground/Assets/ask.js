// The form of what to ask, made from the catalogue and the protocols that the server offers.

import { byId, choice, element, name as nameOf, show } from "./dom.js";

const IN_APP = "apple-in-app";

export class AskForm {
  constructor(configuration) {
    this.configuration = configuration;
    this.documents = configuration.documents.map((document) => new DocumentChoice(document, () => this.update()));
    byId("documents").append(...this.documents.map((document) => document.view));
    byId("protocols").append(...this.protocolChoices());
    byId("protocols").addEventListener("change", () => this.update());
    byId("element-filter").addEventListener("input", () => {
      for (const document of this.documents) document.filter(byId("element-filter").value.trim().toLowerCase());
    });
    this.update();
  }

  /** Protocols of the Digital Credentials API can be offered together, any other stands alone. */
  protocolChoices() {
    return this.configuration.families.map((family, index) => {
      const radio = choice({ type: "radio", name: "family", value: family.name, checked: index === 0 }, family.label);
      if (family.protocols.length === 1 && family.name !== "web") return radio;
      const boxes = family.protocols.map((name) =>
        choice({ type: "checkbox", name: "protocol", value: name, checked: true }, nameOf(name)));
      return element(
        "div", {}, radio,
        element("div", { class: "nested", role: "group", "aria-label": `Protocols of ${family.label}` }, ...boxes));
    });
  }

  get family() {
    const name = document.querySelector("input[name=family]:checked")?.value;
    return this.configuration.families.find((family) => family.name === name);
  }

  get protocols() {
    if (this.family.name !== "web") return this.family.protocols;
    return [...document.querySelectorAll("input[name=protocol]:checked")].map((box) => box.value);
  }

  /** What the protocol cannot ask for is disabled; what belongs to another choice too. */
  update() {
    const isInApp = this.family.protocols.includes(IN_APP);
    for (const box of document.querySelectorAll("input[name=protocol]")) box.disabled = this.family.name !== "web";
    for (const document of this.documents) document.restrict(isInApp);
    show("all-documents-choice", !isInApp && this.chosen.length > 1);
  }

  get chosen() {
    return this.documents.filter((document) => document.isChosen);
  }

  /** The body of `POST /v1/verification_sessions`, without its documents. */
  get bare() {
    const body = { protocols: this.protocols };
    if (this.family.name === "web") body.origin = location.origin;
    return body;
  }

  get body() {
    const body = { ...this.bare, documents: this.chosen.map((document) => document.request) };
    if (!byId("all-documents-choice").hidden && byId("all-documents").checked) body.all_documents = true;
    return body;
  }
}

/** One document type: whether it is asked for, and which of its elements. */
class DocumentChoice {
  constructor(definition, update) {
    this.definition = definition;
    this.boxes = [];
    this.checkbox = element("input", { type: "checkbox", checked: definition.preset.length > 0 });
    this.body = element("div", { class: "document" }, ...definition.namespaces.map((space) => this.namespace(space)));
    this.body.append(this.ages());
    this.view = element(
      "div", {},
      element(
        "label", { class: "choice" }, this.checkbox,
        element("span", {}, definition.label, " ", nameOf(definition.doc_type))),
      this.body);
    this.checkbox.addEventListener("change", update);
  }

  get isChosen() {
    return this.checkbox.checked && !this.checkbox.disabled;
  }

  /** Shows the elements whose label or identifier has the text, and those that are chosen. */
  filter(text) {
    for (const { box, item } of this.boxes) {
      const isFound = [item.label, item.identifier].some((name) => name.toLowerCase().includes(text));
      box.closest("label").hidden = !isFound && !box.checked;
      if (text && isFound) box.closest("details").open = true;
    }
  }

  namespace(space) {
    const boxes = space.elements.map((item) => {
      const isPreset = this.definition.preset.some(
        (preset) => preset.namespace === space.namespace && preset.identifier === item.identifier);
      const box = element("input", { type: "checkbox", checked: isPreset });
      this.boxes.push({ box, namespace: space.namespace, item });
      return element(
        "label", { class: "choice" }, box,
        element("span", {}, item.label, " ", nameOf(item.identifier)));
    });
    const isOpen = this.definition.preset.some((preset) => preset.namespace === space.namespace);
    return element(
      "details", { open: isOpen },
      element("summary", {}, space.label, " ", nameOf(space.namespace)),
      element("div", { class: "elements", role: "group", "aria-label": space.label }, ...boxes));
  }

  ages() {
    const field = (label, value) => {
      const input = element("input", { type: "number", min: 1, max: 125, inputmode: "numeric", value });
      return [input, element("label", { class: "age" }, label, input)];
    };
    const [over, overLabel] = field("Ask whether at least this old", this.definition.preset.length > 0 ? 21 : "");
    const [minimum, minimumLabel] = field("Reject below this age", "");
    [this.over, this.minimum] = [over, minimum];
    return element("div", { class: "ages" }, overLabel, minimumLabel);
  }

  /** In-app requests name Apple's elements, which stand for some of the document's alone. */
  restrict(isInApp) {
    for (const { box, item } of this.boxes) box.disabled = isInApp && !item.apple_in_app;
    this.checkbox.disabled = isInApp && this.boxes.every(({ box }) => box.disabled);
    this.body.hidden = !this.isChosen;
  }

  get request() {
    const request = {
      doc_type: this.definition.doc_type,
      elements: this.boxes.filter(({ box }) => box.checked && !box.disabled)
        .map(({ namespace, item }) => ({ namespace, identifier: item.identifier })),
    };
    if (this.over.value !== "") request.age_over = [Number(this.over.value)];
    if (this.minimum.value !== "") request.minimum_age = Number(this.minimum.value);
    return request;
  }
}
