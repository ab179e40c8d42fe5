/** Returns a text of at most `longest` characters, whose end is `…` if it was cut. Half a surrogate pair becomes U+FFFD. */
export function cutText(text: string, longest: number): string {
  const whole = text.length > longest ? `${text.slice(0, longest - 1)}…` : text;
  // the cut may split a surrogate pair, and the text may contain a lone surrogate already
  return whole.replace(/\p{Surrogate}/gu, "\uFFFD");
}
