import Vectors

/// The committed corpus, found from this file: Tests/VectorKitTests/CommittedCorpus.swift.
enum CommittedCorpus {
  static let root = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()
  static let path = root + "/TestVectors"

  static func suite() throws -> VectorSuite { try VectorSuite(at: path) }

  /// Values of the mock person that stand nowhere else: not in ids, descriptions, certificates or types.
  static let secrets = [
    "Morgan", "1990-04-12", "Mock Driver License", "M18013505", "P23220401", "52 Example", "Salt Lake", "84101",
    "Mock Passport Office", "1001-23220",
  ]
}
