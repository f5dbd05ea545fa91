import Base
import Sessions

/// `/v1/audit`: what is kept of every attempt, as JSON Lines, in the form that `mdoc audit export` writes.
enum AuditRoutes {
  static let all = [entries, heads]

  private static let entries = Route(
    method: .get, path: PathTemplate("/v1/audit/entries"), name: "listAuditEntries",
    summary: "A node's audit entries as JSON Lines, oldest first, and in the last line the head of its chain: where "
      + "that is beyond the last entry, there are more. With `admin` alone those of the key's own relying party.",
    access: .apiKey([.admin, .auditReadAll]),
    query: [
      .init(
        name: "node", summary: "The node's name.",
        schema: OpenAPISchemas.text(like: "^[a-z0-9.-]{1,63}$"), isRequired: true),
      .init(
        name: "after", summary: "Entries after this sequence; 0 by default.",
        schema: OpenAPISchemas.number(0...Int64.max, fallback: 0)),
      .init(
        name: "limit", summary: "Entries on the page.",
        schema: OpenAPISchemas.number(
          1...Int64(Limits.largestAuditPage), fallback: Int64(Limits.largestAuditPage))),
    ], success: .content(AuditLine.mediaType), problems: [.apiInvalidRequest]
  ) { call throws(ServiceError) in
    let lines = try await call.application.service.auditEntries(query: call.query, as: call.authenticated())
    return Answer(status: 200, mediaType: AuditLine.mediaType, body: lines)
  }

  private static let heads = Route(
    method: .get, path: PathTemplate("/v1/audit/heads"), name: "listAuditHeads",
    summary:
      "The heads of all nodes' chains as JSON Lines: worth noting where the server's operators cannot reach. With "
      + "`admin` alone those of the own relying party's last entries.",
    access: .apiKey([.admin, .auditReadAll]), success: .content(AuditLine.mediaType)
  ) { call throws(ServiceError) in
    let lines = try await call.application.service.auditHeads(as: call.authenticated())
    return Answer(status: 200, mediaType: AuditLine.mediaType, body: lines)
  }
}
