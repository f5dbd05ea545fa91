import Base
import CBOR

/// The rules of `cbor-decode`: properties of any bytes parsed as CBOR that are cheap to check. The target `cbor` checks
/// more, and is a thousand times slower.
public enum Decoding {
  public static let name = "cbor-decode"
  /// Mutations change short inputs as a whole, and a head exercises as much of the decoder as in a long input.
  public static let longest = 128

  public static func check(_ bytes: UnsafeBufferPointer<UInt8>) {
    let input = Array(bytes)
    do throws(CBORError) {
      let item = try CBORItem(parsing: input)
      require(item.startOffset == 0 && item.encoded.count == input.count, "an item is the whole input")
      let again = try CBORItem(parsing: input)
      var items = 0
      compare(item, again, depth: 1, &items)
      require(items <= Limits.cborItems, "no more items than the limit")
    } catch {
      require((0...input.count).contains(error.offset), "a refusal names a place in the input")
    }
  }

  /// Compares everything inside two items that were read from the same bytes.
  private static func compare(_ item: CBORItem, _ other: CBORItem, depth: Int, _ items: inout Int) {
    items += 1
    require(depth <= Limits.cborDepth * 2 + 2, "no deeper than the limit")
    require(isSame(item, other), "the same bytes are the same item")
    if let inner = item.embedded, let match = other.embedded {
      compare(inner, match, depth: depth + 1, &items)
    } else if let tag = item.tag, let inner = item.content(ofTag: tag), let match = other.content(ofTag: tag) {
      compare(inner, match, depth: depth + 1, &items)
    } else if let elements = item.elements, var others = other.elements {
      for element in elements {
        guard let match = others.next() else { fatalError("broken rule: the same bytes have as many elements") }
        compare(element, match, depth: depth + 1, &items)
      }
    } else if let entries = item.entries, var others = other.entries {
      for (key, value) in entries {
        guard let match = others.next() else { fatalError("broken rule: the same bytes have as many entries") }
        compare(key, match.key, depth: depth + 1, &items)
        compare(value, match.value, depth: depth + 1, &items)
      }
    }
  }

  private static func isSame(_ item: CBORItem, _ other: CBORItem) -> Bool {
    item.kind == other.kind && item.startOffset == other.startOffset && item.encoded.count == other.encoded.count
      && item.unsigned == other.unsigned && item.negativeArgument == other.negativeArgument && item.bool == other.bool
      && item.tag == other.tag && item.count == other.count && item.double?.bitPattern == other.double?.bitPattern
      && item.bytes?.count == other.bytes?.count
  }
}
