import type { FixtureFile } from "./fixture.ts";

/** The results of the tests of one fixture. A missing result means that the test did not pass. */
interface Finding {
  /** The number of different states in all orders of the events that can happen at the same time. */
  situations?: number;
  /** The same number when every snapshot passes through JSON. */
  situationsThroughJson?: number;
  /** True if the straight run was allowed. */
  straight?: boolean;
  /** The numbers of commits before and after which a crash was tried. */
  crashesBefore?: number;
  crashesAfter?: number;
}

/** The findings by the file name of the fixture. */
export type Findings = ReadonlyMap<string, Finding>;

const head = `# The 43 control-flow patterns

Written by the tests in \`patterns/\` (\`npm run patterns\`), which fail if it is out of date.

Each row is a workflow in [\`patterns/fixtures\`](../patterns/fixtures), with the events that the test sends and a Petri net that says
which traces (sequences of steps) the pattern allows. [\`patterns/petri-net.ts\`](../patterns/petri-net.ts) interprets the net and knows
nothing of the engine. A pattern counts only if every trace was allowed:

- **straight**: once through on SQLite;
- **every order**: in every order of up to four things that may happen at the same time; the column shows the number of different
  situations that occurred and were judged;
- **as JSON**: the same, with the snapshot written and read as JSON after every transition;
- **crashes**: the process dies just before, and in another run just after, every single commit on SQLite, and another process
  goes on from the file; the column shows the number of crashes.

The list comes from Russell, ter Hofstede, van der Aalst and Mulyar, *Workflow Control-Flow Patterns: A Revised View*
(BPM-06-22).

`;

/** Returns the page that tells which patterns are supported, by which construct, and how this was tested. */
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
