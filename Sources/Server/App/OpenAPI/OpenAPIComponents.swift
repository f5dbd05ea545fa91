import Base

/// The component schemas while the document is made.
///
/// A generator names a type by the component that it stands in, and a schema within another has no name of its own: two
/// of one member's name meet, and the package that is made of them cannot be read. So whatever has a title becomes a
/// component, with a reference in its place.
struct OpenAPIComponents {
  private(set) var schemas: [JSON.Member] = []

  /// The schemas by their names, which are their titles.
  init(_ named: [JSON.Member]) {
    for schema in named { _ = lift(OpenAPISchemas.titled(schema.name, schema.value)) }
  }

  /// What stands in the place of the schemas, or of what holds them: itself, with a reference for each title.
  mutating func lift(_ json: JSON) -> JSON {
    switch json {
    case .object(let members):
      let lifted = JSON.object(members.map { JSON.Member($0.name, lift($0.value)) })
      // Of a member that has this name the value is a schema, and no text.
      guard let title = lifted["title"]?.string else { return lifted }
      add(title, lifted)
      return OpenAPIDocument.reference(title)
    case .array(let elements): return .array(elements.map { lift($0) })
    default: return json
    }
  }

  private mutating func add(_ title: String, _ schema: JSON) {
    guard let known = schemas.first(where: { $0.name == title }) else {
      schemas.append(JSON.Member(title, schema))
      return
    }
    // Of constants alone, all of which a test makes.
    precondition(known.value == schema, "two schemas have the title \(title)")
  }
}
