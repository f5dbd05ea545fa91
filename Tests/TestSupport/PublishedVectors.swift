import Base
import FoundationEssentials

/// The vectors that others published. They are beside the working copy, in `../shared/vectors`, and are never copied
/// into the project: a test that needs them is skipped where they are absent.
public enum PublishedVectors {
  public static let folder = packageRoot + "/../shared/vectors"

  /// The condition of a test that needs them.
  public static let areHere = FileManager.default.fileExists(atPath: folder + "/README.md")

  public static func bytes(_ path: String) throws -> [UInt8] {
    guard let data = FileManager.default.contents(atPath: "\(folder)/\(path)") else { throw Missing(path: path) }
    return [UInt8](data)
  }

  public static func json<Value: Decodable>(_ path: String, as type: Value.Type = Value.self) throws -> Value {
    try JSONDecoder().decode(type, from: Data(bytes(path)))
  }

  /// The same for names like `snake_case`, which are here in camel case.
  public static func snakeCaseJSON<Value: Decodable>(_ path: String, as type: Value.Type = Value.self) throws -> Value {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return try decoder.decode(type, from: Data(bytes(path)))
  }

  /// Three levels up from this file: Tests/TestSupport/PublishedVectors.swift.
  private static let packageRoot = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()

  public struct Missing: Error { public let path: String }
}

/// Bytes that a JSON vector gives as hexadecimal text.
public struct HexBytes: Decodable, Sendable {
  public let bytes: [UInt8]

  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    guard let bytes = Hex.decode(text) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "not hexadecimal")
    }
    self.bytes = bytes
  }
}

extension PublishedVectors {
  /// The bytes of a file that holds hexadecimal text.
  public static func hex(_ path: String) throws -> [UInt8] {
    guard let bytes = Hex.decode(String(decoding: try bytes(path), as: UTF8.self)) else { throw Missing(path: path) }
    return bytes
  }
}
