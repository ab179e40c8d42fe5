import type { FixtureFile } from "./fixture.ts";

/** What the tests of one fixture found; what is missing did not pass. */
interface Finding {
  /** Different situations that came up in all orders of what may happen at the same time. */
  situations?: number;
  situationsThroughJson?: number;
  straight?: boolean;
  /** Commits before and after which a crash was tried. */
  crashesBefore?: number;
  crashesAfter?: number;
}

/** By file of the fixture. */
export type Findings = ReadonlyMap<string, Finding>;

const head = `# The 43 control-flow patterns

Written by the tests in \`patterns/\` (\`npm run patterns\`), which fail when it is not current.

Each row is a workflow in [\`patterns/fixtures\`](../patterns/fixtures), with the events it is sent and a Petri net that says
which traces the pattern allows. The net is interpreted by [\`patterns/petri-net.ts\`](../patterns/petri-net.ts), which knows
nothing of the engine. A pattern counts only if every trace was allowed:

- **straight**: once through on SQLite;
- **every order**: in every order of up to four things that may happen at the same time; the number is that of the different
  situations that came up and were judged;
- **as JSON**: the same, with the snapshot written and read as JSON after every transition;
- **crashes**: the process dies just before, and in another run just after, every single commit on SQLite, and another process
  goes on from the file; the number is that of the crashes.

The list is that of Russell, ter Hofstede, van der Aalst and Mulyar, *Workflow Control-Flow Patterns: A Revised View*
(BPM-06-22).

`;

/** The page that says which patterns can be had, how, and how that was tested. */
export function patternTable(fixtures: readonly FixtureFile[], findings: Findings): string {
  const rows = fixtures.map(({ file, fixture: { pattern, name, construct } }) => {
    const { situations, situationsThroughJson, straight, crashesBefore, crashesAfter } = findings.get(file)!;
    const crashes = crashesBefore !== undefined && crashesAfter !== undefined ? crashesBefore + crashesAfter : undefined;
    const cells = [situations, situationsThroughJson, crashes].map((count) =>
      count === undefined ? "**fails**" : count.toLocaleString("en"),
    );
    const link = `[${name}](../patterns/fixtures/${file})`;
    return `| ${pattern} | ${link} | ${construct.replaceAll("|", "\\|")} | ${straight ? "yes" : "**fails**"} | ${cells.join(" | ")} |`;
  });
  const isSound = ({ file }: FixtureFile): boolean => Object.keys(findings.get(file)!).length === 5;
  const sound = new Set(fixtures.map(({ fixture }) => fixture.pattern));
  for (const broken of fixtures.filter((fixture) => !isSound(fixture))) sound.delete(broken.fixture.pattern);
  return `${head}**${sound.size} of 43 pass.**

| # | pattern | in a definition | straight | every order | as JSON | crashes |
| ---: | --- | --- | --- | ---: | ---: | ---: |
${rows.join("\n")}
`;
}
