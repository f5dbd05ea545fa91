extension Unicode.Scalar {
  /// Itself, or its number where it would steer a terminal or change how the text around it reads.
  package var printable: String { isUnprintable ? "\\u{\(String(value, radix: 16))}" : String(self) }

  private var isUnprintable: Bool {
    switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned: true
    default: false
    }
  }
}
