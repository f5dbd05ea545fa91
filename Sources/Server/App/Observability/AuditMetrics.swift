import Sessions

extension MetricsText {
  /// From the store, so that a chain that was shortened shows as a counter that fell.
  static func audit(_ heads: [AuditHead], _ text: inout MetricsWriter) {
    text.family("mdoc_audit_entries_total", .counter, "Audit entries in the store, by node.")
    for head in heads {
      text.sample("mdoc_audit_entries_total", [("node", head.node.text)], Double(head.sequence))
    }
  }
}
