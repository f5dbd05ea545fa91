import Base
import Sessions

/// `/codes/{code}`: the page to which every problem leads.
enum CodePage {
  private static let mediaType = "text/plain; charset=utf-8"

  static func path(of code: Code) -> String { "/codes/\(code.rawValue)" }

  static let route = Route(
    method: .get, path: PathTemplate("/codes/{code}"), name: "getCode", summary: "Read what a code means",
    description: "The page to which `documentation_url` of a problem leads: summary, clause, status and remedy.",
    access: .anyone, success: .content(mediaType), problems: [.apiNotFound]
  ) { call throws(ServiceError) in
    guard let code = Code(rawValue: call.parameters["code"] ?? "") else { throw ServiceError(.apiNotFound) }
    let entry = code.entry
    let lines = [
      code.rawValue, "", entry.summary + ".", "Clause: \(entry.clause)", "HTTP status: \(code.httpStatus)", "",
      entry.remedy,
    ]
    return Answer(status: 200, mediaType: mediaType, body: Array((lines.joined(separator: "\n") + "\n").utf8))
  }
}
