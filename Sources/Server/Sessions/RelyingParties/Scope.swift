/// What an API key may do (HTTP API, Authentication).
package enum Scope: String, Sendable, Hashable, CaseIterable {
  /// Create, submit, cancel and redact sessions.
  case sessionsWrite = "sessions:write"
  /// Get verified element values.
  case resultsRead = "results:read"
  /// See the trust anchors in force.
  case trustRead = "trust:read"
  /// Operate the server: metrics and reloads, and read the audit entries of the key's own relying party.
  case admin
  /// Read the audit entries of all relying parties, and the heads of their chains.
  case auditReadAll = "audit:read_all"
}
