import type { Fixture, FixtureFile, ScriptStep, Workflow, WorkflowNode } from "./fixture.ts";
import type { Net } from "./petri-net.ts";
import { parseTrace } from "./trace.ts";

const statuses: readonly string[] = ["completed", "failed", "cancelled", "paused"];

/** Returns the faults of a fixture, one sentence each: names that do not exist, places without effect, traces without an end. */
export function checkFixture({ file, fixture }: FixtureFile): string[] {
  return [
    ...checkHead(file, fixture),
    ...graphs(fixture.workflow).flatMap((graph) => checkGraph(graph, Object.keys(fixture.workflow.workflows ?? {}))),
    ...checkScript(fixture),
    ...checkNet(fixture.net, known(fixture)),
    ...checkTraces(fixture),
  ];
}

function checkHead(file: string, fixture: Fixture): string[] {
  const number = String(fixture.pattern).padStart(2, "0");
  const texts = [fixture.name, fixture.construct, fixture.description];
  return [
    ...problem(
      new RegExp(`^${number}-[a-z0-9]+(-[a-z0-9]+)*\\.json$`).test(file),
      `the file of pattern ${fixture.pattern} is called ${file}`,
    ),
    ...problem(
      texts.every((text) => text.trim() !== ""),
      "a text is empty",
    ),
    ...problem(
      Number.isInteger(fixture.pattern) && fixture.pattern >= 1 && fixture.pattern <= 43,
      `there is no pattern ${fixture.pattern}`,
    ),
  ];
}

function checkGraph({ id, nodes, edges }: Workflow, workflows: readonly string[]): string[] {
  const ids = nodes.map((node) => node.id);
  const named = [...edges.flatMap((edge) => [edge.source, edge.target]), ...nodes.flatMap((node) => node.cancels ?? [])];
  return [
    ...repeated(ids).map((node) => `${id}: two nodes are called ${node}`),
    ...named.filter((node) => !ids.includes(node)).map((node) => `${id}: there is no node ${node}`),
    ...nodes
      .flatMap(childOf)
      .filter((child) => !workflows.includes(child))
      .map((child) => `${id}: there is no workflow ${child}`),
  ];
}

function checkScript(fixture: Fixture): string[] {
  const nodes = nodeIds(fixture);
  const labels = known(fixture);
  const net = new Set(fixture.net.transitions.map((transition) => transition.label));
  return [
    ...repeated(fixture.script.map((step) => step.label)).map((label) => `two steps are called ${label}`),
    ...fixture.script.flatMap((step) => [
      ...problem((step.send === undefined) !== (step.advanceMs === undefined), `step ${step.label} needs either send or advanceMs`),
      ...problem(net.has(`!${step.label}`), `the net does not know the step ${step.label}`),
      ...(step.after ?? []).filter((label) => !labels.has(label)).map((label) => `step ${step.label}: there is no label ${label}`),
      ...targets(step)
        .filter((node) => !nodes.includes(node))
        .map((node) => `step ${step.label}: there is no node ${node}`),
    ]),
  ];
}

function checkNet({ initial, transitions, final }: Net, labels: ReadonlySet<string>): string[] {
  const taken = new Set(transitions.flatMap((t) => t.in ?? []));
  const filled = new Set([...initial, ...transitions.flatMap((t) => t.out ?? [])]);
  const tested = transitions.flatMap((t) => [...(t.inhibit ?? []), ...(t.reset ?? [])]);
  const ends = Object.values(final).flat(2);
  return [
    ...transitions.flatMap(({ label }) => (label === undefined || labels.has(label) ? [] : [`the net has an unknown label ${label}`])),
    ...[...taken, ...tested, ...ends].filter((place) => !filled.has(place)).map((place) => `nothing fills the place ${place}`),
    ...[...filled].filter((place) => !taken.has(place) && !ends.includes(place)).map((place) => `nothing empties the place ${place}`),
    ...Object.keys(final).flatMap((status) => problem(statuses.includes(status), `there is no status ${status}`)),
  ];
}

function checkTraces(fixture: Fixture): string[] {
  const labels = known(fixture);
  const { allowed, forbidden, witnesses = [] } = fixture;
  const whole = [...allowed, ...forbidden];
  return [
    ...problem(allowed.length >= 1 && forbidden.length >= 2, "there are too few traces"),
    ...repeated([...whole, ...witnesses]).map((text) => `written twice: ${text}`),
    ...whole.filter((text) => !statuses.includes(parseTrace(text).flat().at(-1) ?? "")).map((text) => `does not end: ${text}`),
    ...[...whole, ...witnesses].flatMap((text) =>
      parseTrace(text)
        .flat()
        .filter((label) => !labels.has(label) && !statuses.includes(label))
        .map((label) => `unknown label ${label} in: ${text}`),
    ),
  ];
}

/** Returns every label that the nodes and the script can produce. */
function known(fixture: Fixture): Set<string> {
  const ofNodes = nodeIds(fixture).flatMap((id) => [`+${id}`, `-${id}`, `x${id}`]);
  return new Set([...ofNodes, ...fixture.script.map((step) => `!${step.label}`)]);
}

function graphs(workflow: Workflow): Workflow[] {
  return [workflow, ...Object.values(workflow.workflows ?? {})];
}

function nodeIds({ workflow }: Fixture): string[] {
  return graphs(workflow).flatMap((graph) => graph.nodes.map((node) => node.id));
}

function childOf({ data }: WorkflowNode): string[] {
  if (typeof data !== "object" || data === null || !("workflow" in data)) return [];
  return [String(data.workflow)];
}

function targets({ send }: ScriptStep): string[] {
  if (send === undefined) return [];
  if ("node" in send) return [send.node];
  return "target" in send && send.target ? [send.target.node] : [];
}

function repeated(texts: readonly string[]): string[] {
  return texts.filter((text, i) => texts.indexOf(text) !== i);
}

function problem(good: boolean, text: string): string[] {
  return good ? [] : [text];
}
