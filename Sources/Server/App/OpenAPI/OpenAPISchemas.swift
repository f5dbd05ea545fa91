import Base

/// The component schemas, each an object that allows no other members than those it lists, but for those whose
/// members are other people's: `metadata`, a document's elements, and what wallets get and send.
///
/// Whatever a generator makes a type of, an object, an enumeration or a choice, has a name, so that the type has one as
/// well: a schema within another by its title, under which it becomes a component of its own (`OpenAPIComponents`).
enum OpenAPISchemas {
  static let all: [Schema.Member] =
    CreateSessionSchemas.all + RequestSchemas.all + WalletSchemas.all + SessionSchemas.all + ResultSchemas.all
    + ReportSchemas.all + EventSchemas.all + OperationSchemas.all
}

extension Schema {
  /// To a component.
  package static func reference(_ name: String) -> Schema { ["$ref": .string("#/components/schemas/\(name)")] }

  static let seconds: Schema = ["type": "integer", "format": "int64", "description": "Unix seconds."]
  static let sha256 = Schema.text(like: "^[0-9a-f]{64}$")

  /// Codes are no enumeration: versions add some, and a client that was made before must still read the reply.
  static func code(_ codes: [Code], _ text: String) -> Schema {
    [
      "type": "string", "pattern": "^[a-z0-9_.]+$", "x-extensible-enum": .array(codes.map { .string($0.rawValue) }),
      "description": .string(text + " Those known to this version; later ones may have more."),
    ]
  }

  /// A page of a list of components.
  static func listObject(of name: String) -> Schema {
    .object(["object": .constant("list"), "data": .list(of: .reference(name)), "has_more": .flag])
  }
}
