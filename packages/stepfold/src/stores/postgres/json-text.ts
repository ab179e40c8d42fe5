/**
 * PostgreSQL stores any JSON as it is, but refuses to look into one that has the character 0 or half a surrogate pair
 * anywhere. These expressions of SQL hide such escapes, and bring them back when the work is done: `\u0000` becomes
 * `\\u0000`, and so that this stays plain, a backslash in the text becomes `\u005c`.
 */
export function hidden(json: string): string {
  return `regexp_replace(replace(${json}::text, '\\\\', '\\u005c'), '\\\\u(0000|[dD][89a-fA-F][0-9a-fA-F]{2})', '\\\\\\\\u\\1', 'g')::json`;
}

/** The text in which hidden escapes are themselves again. */
export function unhidden(text: string): string {
  return `replace(${text}, '\\\\u', '\\u')`;
}

/** The members of a JSON object, to be put after others: `, "a": 1}`. */
export function membersOf(json: string): string {
  return `regexp_replace(regexp_replace(${json}::text, '^\\s*\\{\\s*', ','), '^,\\}', '}')`;
}

/** The text of a JSON string without its quotes; what is escaped in it stays so. */
export function bare(text: string): string {
  return `substr(${text}, 2, length(${text}) - 2)`;
}
