import Base
import Mdoc

extension PublishedCase {
  /// An answer or a chain of certificates, which is accepted where there are no codes and refused with them otherwise.
  init(_ id: String, _ description: String, reference: String, codes: [Code], judge: @escaping () -> Finding) {
    self.init(
      part: "", id: id, description: description, reference: reference,
      flag: codes.first.map(VectorFlag.ofMissing) ?? .control,
      expectation: codes.isEmpty ? .accepted : .refused(codes.map(\.rawValue)), judge: judge)
  }
}

extension PublishedCase.Finding {
  /// - Parameter elements: of all documents, as many as the published answer has.
  static func ofVerdict(_ verdict: Verdict, elements: Int) -> Self {
    switch verdict.outcome {
    case .refused(let reasons): return .refused(reasons.map(\.code))
    case .accepted(let presentation):
      let count = presentation.documents.reduce(0) { $0 + $1.elements.count }
      return count == elements ? .accepted : .other("accepted with \(count) elements in place of \(elements)")
    }
  }
}
