// What is inside of requests and answers: CBOR in diagnostic notation, and the payload of a signed request.

import { element, jsonBlock, textBlock } from "./dom.js";

/** Members of a request that are CBOR in base64url. */
const CBOR_MEMBERS = ["deviceRequest", "encryptionInfo", "device_request"];

export class Contents {
  constructor(api) {
    this.api = api;
  }

  /** A request as the app or page gets it and, beside it, what is in it; folded unless it is open. */
  async ofRequest({ protocol, data }, open) {
    const inside = [];
    for (const name of CBOR_MEMBERS.filter((name) => data[name] !== undefined)) {
      inside.push(textBlock(`${name}: CBOR`, await this.api.diagnostic(data[name], true), { open }));
    }
    const signed = typeof data.request === "string" ? data.request.split(".")[1] : data.request?.payload;
    if (signed !== undefined) inside.push(jsonBlock("request: its payload", decodedJSON(signed), { open }));
    return beside(jsonBlock(protocol, data, { open }), inside);
  }

  /** An answer as it is submitted and, beside it, what the mock wallet encrypted in it: its structure, not its values. The
   * verdict alone shows values. */
  async ofAnswer({ answer, device_responses: responses }) {
    const inside = [];
    for (const response of responses) {
      const text = await this.api.diagnostic(response, false);
      inside.push(textBlock("DeviceResponse, without values", text, { open: true }));
    }
    return beside(jsonBlock("What is submitted", answer, { id: "submitted", open: true }), inside);
  }
}

function beside(left, inside) {
  return element("div", { class: "pair" }, left, inside.length > 0 ? element("div", {}, ...inside) : null);
}

function decodedJSON(text) {
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return JSON.parse(new TextDecoder().decode(Uint8Array.from(binary, (byte) => byte.charCodeAt(0))));
}
