import Base

/// The form that `--person` reads, as a JSON Schema (draft 2020-12): an array of documents, or one. `MockDocumentData`
/// reads it.
enum MockPersonSchema {
  static let json: JSON = [
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "Documents of a mock person",
    "anyOf": [["$ref": "#/$defs/document"], ["type": "array", "items": ["$ref": "#/$defs/document"]]],
    "$defs": ["document": document, "value": value],
  ]

  private static let document: JSON = [
    "type": "object", "required": ["doc_type", "namespaces"], "additionalProperties": false,
    "properties": [
      "doc_type": ["type": "string", "description": "Such as org.iso.18013.5.1.mDL; mdoc catalogue lists more."],
      "age_over": [
        "type": "array", "items": ["type": "integer", "minimum": 0, "maximum": 99],
        "description": "The NN of each age_over_NN that the issuer attests, computed from birth_date.",
      ],
      "namespaces": [
        "type": "object", "description": "Elements by namespace.",
        "additionalProperties": ["type": "object", "additionalProperties": ["$ref": "#/$defs/value"]],
      ],
    ],
  ]

  /// An object with one member may be a typed value. Any other object is a map of values.
  private static let value: JSON = [
    "anyOf": [
      ["type": ["string", "number", "boolean", "null"]],
      ["type": "array", "items": ["$ref": "#/$defs/value"]],
      typed("full_date", ["type": "string", "format": "date"], "A full-date (CBOR tag 1004)."),
      typed("tdate", ["type": "string", "format": "date-time"], "A time (CBOR tag 0)."),
      typed("base64", ["type": "string"], "Bytes, in base64 or base64url."),
      typed("hex", ["type": "string", "pattern": "^([0-9A-Fa-f]{2})*$"], "Bytes."),
      typed(
        "jpeg_portrait", ["type": "integer", "minimum": 0, "maximum": 16_777_216],
        "The mock portrait with so many bytes, or as it is for 0."),
      ["type": "object", "additionalProperties": ["$ref": "#/$defs/value"]],
    ]
  ]

  private static func typed(_ name: String, _ content: JSON, _ description: String) -> JSON {
    [
      "type": "object", "required": [.string(name)], "additionalProperties": false,
      "properties": .object([.init(name, content)]), "description": .string(description),
    ]
  }
}
