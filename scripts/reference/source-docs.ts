/**
 * Returns the doc comment directly above a declaration as Markdown, up to its tags.
 * @throws TypeError if there is none
 */
export function docAbove(source: string, declaration: string): string {
  const at = source.indexOf(declaration);
  const from = source.lastIndexOf("/**", at);
  const to = source.indexOf("*/", from);
  if (at < 0 || from < 0 || to > at || source.slice(to + 2, at).trim() !== "") throw new TypeError(`${declaration} has no doc comment`);
  return source
    .slice(from + 3, to)
    .split("\n")
    .map((line) => line.replace(/^\s*\* ?/, ""))
    .join("\n")
    .split(/^@/m)[0]!
    .trim();
}

/**
 * Returns the members of an interface with their doc comments, in their order.
 * @throws TypeError if a member has no doc comment, because the page would leave it out
 */
export function membersOf(source: string, name: string): { readonly name: string; readonly about: string }[] {
  const from = source.indexOf(`interface ${name} {`);
  const body = source.slice(from, source.indexOf("\n}", from));
  const bare = Array.from(body.matchAll(/(\*\/)?\s*\n {2}readonly (\w+)\??:/g)).find(([, comment]) => comment === undefined);
  if (bare) throw new TypeError(`${name}.${bare[2]} has no doc comment`);
  return Array.from(body.matchAll(/\/\*\*((?:[^*]|\*(?!\/))*)\*\/\s*readonly (\w+)\??:/g), ([, about, member]) => ({
    name: member!,
    about: about!.replace(/\s*\n\s*\* ?/g, " ").trim(),
  }));
}
