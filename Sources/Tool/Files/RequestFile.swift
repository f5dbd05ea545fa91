import Base
import Mdoc
import Sessions

/// A relying party's request, typed as JSON or in a file, in the shape of the HTTP API.
enum RequestFile {
  /// - Parameter argument: JSON where it begins with a brace or bracket; else a path. Nil asks for nothing in particular.
  static func request(_ argument: String?, for family: ProtocolFamily) throws(Failure) -> PresentationRequest? {
    guard let argument else { return nil }
    let isInline = ["{", "["].contains(argument.drop(while: \.isWhitespace).first)
    let source = isInline ? "--request" : "request \(argument)"
    let bytes = isInline ? Array(argument.utf8) : try FileAccess.read(argument, purpose: "request")
    func fault(_ problem: String) -> Failure {
      isInline ? .usage("\(source): \(problem)") : .unreadable("\(source): \(problem)")
    }
    guard let json = try? JSON(parsing: bytes) else { throw fault("is not JSON") }
    do throws(ServiceError) {
      return try PresentationRequestDecoder(for: family).decode(json)
    } catch {
      let faults = error.pointers.map { "\($0.pointer.isEmpty ? "it" : $0.pointer) \($0.detail)" }
      throw fault(faults.isEmpty ? error.detail : faults.joined(separator: "; "))
    }
  }
}
