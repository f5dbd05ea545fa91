import Base

/// Members of one JSON object by their types, with a fault that says where it is not as it should be.
struct MemberParser {
  private let json: JSON
  private let pointer: String

  init(_ json: JSON, at pointer: String) {
    self.json = json
    self.pointer = pointer
  }

  func fault(_ name: String, _ problem: String) -> VectorFault {
    VectorFault(pointer: "\(pointer)/\(name)", problem: problem)
  }

  func optional(_ name: String) -> JSON? { json[name] }

  func value(_ name: String) throws(VectorFault) -> JSON {
    guard let value = json[name] else { throw fault(name, "is missing") }
    return value
  }

  func object(_ name: String) throws(VectorFault) -> MemberParser {
    let value = try value(name)
    guard value.object != nil else { throw fault(name, "is no object") }
    return MemberParser(value, at: "\(pointer)/\(name)")
  }

  func elements(_ name: String) throws(VectorFault) -> [MemberParser] {
    guard let elements = try value(name).array else { throw fault(name, "is no array") }
    return elements.enumerated().map { MemberParser($0.element, at: "\(pointer)/\(name)/\($0.offset)") }
  }

  func string(_ name: String) throws(VectorFault) -> String {
    guard let text = try value(name).string else { throw fault(name, "is no string") }
    return text
  }

  func strings(_ name: String) throws(VectorFault) -> [String] {
    guard let elements = try value(name).array else { throw fault(name, "is no array") }
    let texts = elements.compactMap(\.string)
    guard texts.count == elements.count else { throw fault(name, "is no array of strings") }
    return texts
  }

  func integer(_ name: String) throws(VectorFault) -> Int64 {
    guard let number = try value(name).integer else { throw fault(name, "is no whole number") }
    return number
  }

  func bool(_ name: String) throws(VectorFault) -> Bool? {
    guard let value = json[name] else { return nil }
    guard let bool = value.bool else { throw fault(name, "is neither true nor false") }
    return bool
  }

  func bytes(_ name: String) throws(VectorFault) -> [UInt8] {
    guard let bytes = Base64.decodeURLSafe(try string(name)) else { throw fault(name, "is no base64url") }
    return bytes
  }

  func choice<Choice: RawRepresentable<String> & CaseIterable>(_ name: String) throws(VectorFault) -> Choice {
    guard let choice = Choice(rawValue: try string(name)) else {
      throw fault(name, "is none of \(Choice.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    return choice
  }
}
