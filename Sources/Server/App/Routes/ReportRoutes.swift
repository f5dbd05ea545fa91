import Sessions

/// `/v1/verification_reports`.
enum ReportRoutes {
  static let all = [get]

  private static let get = Route(
    method: .get, path: PathTemplate("/v1/verification_reports/{id}"), name: "getVerificationReport",
    summary: "Reads the immutable report of one attempt; it holds no personal data.",
    access: .apiKey([.sessionsWrite, .resultsRead]), success: .json(200, "VerificationReport"),
    problems: [.apiNotFound]
  ) { call throws(ServiceError) in
    Answer(try await call.application.service.report(call.id, as: call.authenticated()))
  }
}
