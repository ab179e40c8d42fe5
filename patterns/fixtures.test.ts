import { describe, expect, it } from "vitest";
import { checkFixture } from "./check-fixture.ts";
import { explore } from "./explore.ts";
import { type FixtureFile, readFixtures } from "./fixture.ts";
import { accepts, Oracle, type States } from "./petri-net.ts";
import { contains, type Labels, parseTrace, reorderings } from "./trace.ts";

const files = readFixtures();

describe("the fixtures", () => {
  it("show each of the 43 patterns", () => {
    const shown = new Set(files.map(({ fixture }) => fixture.pattern));
    expect([...shown].sort((a, b) => a - b)).toEqual(Array.from({ length: 43 }, (_, i) => i + 1));
  });

  it("have one name for each pattern, and workflows of different names", () => {
    const names = files.map(({ fixture }) => `${fixture.pattern} ${fixture.name}`);
    expect(new Set(names).size).toBe(43);
    expect(new Set(files.map(({ fixture }) => fixture.workflow.id)).size).toBe(files.length);
  });

  it("would be refused with a mistake in them", () => {
    const { file, fixture } = files[0]!;
    const { net, workflow } = fixture;
    const broken: FixtureFile[] = [
      { file: "1.json", fixture },
      { file, fixture: { ...fixture, workflow: { ...workflow, edges: [{ source: "a", target: "nobody" }] } } },
      { file, fixture: { ...fixture, script: [{ label: "go", after: ["+nobody"] }] } },
      { file, fixture: { ...fixture, net: { ...net, transitions: [...net.transitions, { label: "+nobody", in: ["nowhere"] }] } } },
      { file, fixture: { ...fixture, forbidden: ["+a, -a"] } },
    ];
    expect(broken.map((one) => checkFixture(one).length > 0)).toEqual(broken.map(() => true));
  });
});

describe.each(files)("$file", (one) => {
  const { net, allowed, forbidden, witnesses = [] } = one.fixture;

  it("is well-formed", () => expect(checkFixture(one)).toEqual([]));

  it("has a net without dead transitions that can always come to an end", () => {
    expect(explore(net)).toMatchObject({ dead: [], stuck: [] });
  });

  it.each(allowed)("allows %s", (text) => {
    for (const labels of reorderings(parseTrace(text))) expect(accepts(net, labels), labels.join(" ")).toBe(true);
  });

  it.each(forbidden)("forbids %s", (text) => {
    for (const labels of reorderings(parseTrace(text))) expect(accepts(net, labels), labels.join(" ")).toBe(false);
  });

  it("forbids that anything happens twice which happened once, or is left out where nothing is withdrawn", () => {
    const resets = net.transitions.some((transition) => transition.reset !== undefined);
    const changed = allowed.flatMap((text) => doubled(parseTrace(text).flat(), resets));
    expect(changed.filter((labels) => accepts(net, labels))).toEqual([]);
  });

  it("has witnesses that the net can show", () => {
    expect(witnesses.filter((text) => !canShow(new Oracle(net), text.split(" ")))).toEqual([]);
  });
});

it("finds labels in order, whatever stands between them", () => {
  expect(contains(["+a", "-a", "+b"], ["+a", "+b"])).toBe(true);
  expect(contains(["+a", "-a", "+b"], ["+b", "+a"])).toBe(false);
});

/** Returns variants of a trace: with one label of a node twice, and, unless the net has resets, with one label left out. */
function doubled(labels: Labels, resets: boolean): Labels[] {
  const own = labels.flatMap((label, i) => (/^[-+x]/.test(label) ? [i] : []));
  return own.flatMap((i) => [labels.toSpliced(i, 0, labels[i]!), ...(resets ? [] : [labels.toSpliced(i, 1)])]);
}

/** True if some trace of the net has these labels in this order. */
function canShow(oracle: Oracle, part: Labels): boolean {
  const seen = new Set<string>();
  const search = (states: States, found: number): boolean => {
    if (found === part.length) return true;
    const key = `${found} ${states.key}`;
    if (seen.has(key)) return false;
    seen.add(key);
    return oracle.next(states).some((label) => search(oracle.step(states, label), label === part[found] ? found + 1 : found));
  };
  return search(oracle.start(), 0);
}
