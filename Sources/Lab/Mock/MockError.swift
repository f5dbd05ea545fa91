/// Why nothing could be made. Wrong answers are made on purpose and are no errors.
package enum MockError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The wallet has no document of a type that was requested.
  case noRequestedDocument([String])
  /// What a web protocol's request lacks, or has in another form.
  case unreadableRequest(String)
  /// The document data cannot be read; where, and why.
  case invalidData(path: String, reason: String)
  /// The curve cannot sign certificates or documents.
  case curveCannotSign(String)
  /// The variant has nothing to work on in this request or document data.
  case nothingToChange(String)
  case unknownVariant(String)
  case keyDerivationFailed(String)

  package var description: String {
    switch self {
    case .noRequestedDocument(let types): "The mock wallet has no document of type \(types.joined(separator: ", "))"
    case .unreadableRequest(let reason): "The mock wallet cannot read the request: \(reason)"
    case .invalidData(let path, let reason): "Mock document data: \(path): \(reason)"
    case .curveCannotSign(let curve): "\(curve) keys cannot sign"
    case .nothingToChange(let reason): "The variant does not apply: \(reason)"
    case .unknownVariant(let name): "There is no variant \(name)"
    case .keyDerivationFailed(let label): "No key could be derived for \(label)"
    }
  }
}
