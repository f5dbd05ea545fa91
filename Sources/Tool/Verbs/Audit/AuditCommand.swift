/// `mdoc audit`: the chained entries of all attempts.
enum AuditCommand {
  static let command = Command(
    "audit", "export audit entries, and verify exports",
    verbs: [AuditExportCommand.command, AuditVerify.command])
}
