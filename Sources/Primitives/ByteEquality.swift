extension String {
  /// Whether both strings are the same UTF-8 bytes.
  ///
  /// `==` also holds between canonically equivalent strings: the Kelvin sign equals "K", an accent in one scalar or
  /// in two is the same. Where names decide what is signed, requested or trusted, the bytes have to be the same.
  public func hasSameBytes(as other: String) -> Bool {
    utf8.count == other.utf8.count && utf8.elementsEqual(other.utf8)
  }
}
