/** Returns what to do about a mistake in JSON, judged by the characters at its place; null if that cannot be said. */
export function hintFor(source: string, at: number): string | null {
  const rest = source.slice(at, at + 20);
  const before = source.slice(0, at).trimEnd();
  if (at >= source.length) return "The text ends too early: is a closing bracket or quote missing?";
  if (rest.startsWith("//") || rest.startsWith("/*") || rest.startsWith("#")) return "JSON has no comments: remove it";
  if (/^[}\]]/.test(rest) && before.endsWith(",")) return "Remove the comma before it";
  if (rest.startsWith("'")) return "JSON takes double quotes, not single ones";
  if (/^(?:True|False|None|undefined|NaN|-?Infinity)\b/.test(rest)) return "JSON knows only true, false, null and finite numbers";
  if (/^\p{Cc}/u.test(rest)) return "Inside a string, write a line break as \\n and a tab as \\t";
  if (rest.startsWith("\\")) return 'JSON knows \\" \\\\ \\/ \\b \\f \\n \\r \\t and \\u with four hexadecimal digits';
  if (/^["{[]/.test(rest) && /["}\]\w]$/.test(before)) return "Is a comma missing before it?";
  if (/^[A-Za-z_$]/.test(rest)) return "Put names and texts in double quotes";
  if (/^[+.\d-]/.test(rest)) return "A number looks like 12, -0.5 or 1e3";
  return null;
}
