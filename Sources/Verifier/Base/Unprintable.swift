extension Unicode.Scalar {
  /// Itself, or its number where it would steer a terminal or change how the text around it reads.
  package var printable: String { isUnprintable ? "\\u{\(String(value, radix: 16))}" : String(self) }

  /// Whether it is a control of the second block (C1), or one that changes the direction of the text around it.
  package var isHiddenControl: Bool {
    switch value {
    case 0x7f...0x9f, 0x61c, 0x200e, 0x200f, 0x2028...0x202e, 0x2066...0x2069: true
    default: false
    }
  }

  private var isUnprintable: Bool {
    switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned: true
    default: false
    }
  }
}
