// One colour of the relying party's, made readable in both themes (WCAG 2.2, 1.4.3), and its sign where it has no logo.

const READABLE = 4.5;

const channels = (colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));

const luminance = (rgb) => {
  const [red, green, blue] = rgb.map((value) => value / 255)
    .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
};

const contrast = (one, other) => {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
};

/** The colour, as little nearer to black or white as it needs to be readable on the card. */
function readable(rgb, card, towards) {
  for (let share = 0; share <= 1; share += 0.02) {
    const mixed = rgb.map((value) => Math.round(value + (towards - value) * share));
    if (contrast(mixed, card) >= READABLE) return mixed;
  }
  return rgb;
}

/** Values of the style sheet's variables for a colour, `#rrggbb`. */
export function brandColours(colour) {
  const themes = [["light", [255, 255, 255], 0], ["dark", [23, 27, 34], 255]];
  return Object.fromEntries(themes.flatMap(([theme, card, towards]) => {
    const rgb = readable(channels(colour), card, towards);
    const ink = [[255, 255, 255], [10, 15, 25]].sort((a, b) => contrast(b, rgb) - contrast(a, rgb))[0];
    return [[`--brand-${theme}`, `rgb(${rgb.join(" ")})`], [`--on-brand-${theme}`, `rgb(${ink.join(" ")})`]];
  }));
}

/** One or two letters of a name. */
export function initials(name) {
  const words = name.split(/[\s-]+/).filter((word) => /^[\p{L}\p{N}]/u.test(word));
  return [...words.slice(0, 2)].map((word) => [...word][0]).join("").toUpperCase();
}
