import { afterEach, describe, expect, it } from "vitest";
import { isJsonObject } from "../../../src/core/values/json.ts";
import { builtinNodes } from "../../../src/nodes/index.ts";
import { schedules } from "../../../src/schedules/schedules.ts";
import { virtualEnvironment } from "../../../src/testing/virtual-environment.ts";
import { closeAll, setUp } from "../runtime.fixture.ts";

afterEach(closeAll);

const begins = Date.UTC(2026, 2, 5, 12);
const flow = (id: string, type: string, data: object) => ({ id, nodes: [{ id: "n", type, data }], edges: [] });
const race = {
  ...flow("race", "race", { signals: [{ name: "paid" }], timer: { until: "{{ input }}" } }),
  nodes: [
    { id: "n", type: "race", data: { signals: [{ name: "paid" }], timer: { until: "{{ input }}" } } },
    { id: "late", type: "noop" },
    { id: "paid", type: "noop" },
  ],
  edges: [
    { source: "n", target: "late", sourceHandle: "timer" },
    { source: "n", target: "paid", sourceHandle: "paid" },
  ],
};
const dated = { ...flow("dated", "noop", {}), input: { type: "string", format: "date-time" } };
const workflows = [
  ...[flow("job", "noop", {}), flow("wait", "wait", { until: "{{ input }}" }), race, dated],
  flow("date", "set", { at: "{{ date.parse(input) }}" }),
  flow("DateTime", "set", { at: "{{ DateTime.fromISO(input).toMillis() }}" }),
];

function bench() {
  const made = setUp({ workflows, nodeDefinitions: builtinNodes, schedules: schedules() }, virtualEnvironment(begins));
  const { runtime, environment } = made;
  let count = 0;
  /** Returns what an execution with this input has to say about its moment: the moment, or the code of an error. */
  const ended = async (workflow: string, at: string): Promise<unknown> => {
    const run = await runtime.start(workflow, { workflowId: `${workflow}-${++count}`, input: at });
    await environment.settle();
    const { error, activePaths, output } = await run.snapshot();
    const resumeAt = activePaths[0]?.waits?.find((wait) => wait.resumeAt !== undefined)?.resumeAt;
    const made = isJsonObject(output) ? output.at : "at once";
    return error?.code ?? resumeAt ?? made;
  };
  const places: Readonly<Record<string, (at: string) => Promise<unknown>>> = {
    start: async (at) =>
      (await (await runtime.start("job", { workflowId: `start-${++count}`, startAt: at })).snapshot()).activePaths[0]?.waits?.[0]?.resumeAt,
    deadline: async (at) =>
      (await (await runtime.start("wait", { workflowId: `deadline-${++count}`, input: "2027-01-01", deadline: at })).snapshot()).deadlineAt,
    at: async (at) => (await runtime.schedules.create(`at-${++count}`, { workflow: "job", at })).spec.at,
    startAt: async (at) => (await runtime.schedules.create(`from-${++count}`, { workflow: "job", every: "1h", startAt: at })).spec.startAt,
    endAt: async (at) => (await runtime.schedules.create(`to-${++count}`, { workflow: "job", every: "1h", endAt: at })).spec.endAt,
    wait: (at) => ended("wait", at),
    race: (at) => ended("race", at),
    date: (at) => ended("date", at),
    DateTime: (at) => ended("DateTime", at),
  };
  const everywhere = async (at: string): Promise<Record<string, unknown>> =>
    Object.fromEntries(
      await Promise.all(
        Object.entries(places).map(
          async ([place, ask]) => [place, await ask(at).catch((error: { code: string; message: string }) => error)] as const,
        ),
      ),
    );
  return { ...made, everywhere, names: Object.keys(places) };
}

describe("one text is one moment, wherever it is written", () => {
  it.each<[string, string]>([
    ["2026-03-06", "2026-03-06T00:00:00.000Z"],
    ["2026-03-06T09:00Z", "2026-03-06T09:00:00.000Z"],
    ["2026-03-06t09:00:00z", "2026-03-06T09:00:00.000Z"],
    ["2026-03-06 09:00:00+00", "2026-03-06T09:00:00.000Z"],
    ["2026-03-05 16:00:00+01", "2026-03-05T15:00:00.000Z"],
    ["2026-03-06T09:00:00+0100", "2026-03-06T08:00:00.000Z"],
    ["2026-03-06T09:00:00-00:00", "2026-03-06T09:00:00.000Z"],
    ["2026-03-06T09:00:00.283185307Z", "2026-03-06T09:00:00.283Z"],
    ["2026-06-30T23:59:60Z", "2026-07-01T00:00:00.000Z"],
  ])("%s", async (text, iso) => {
    const { everywhere, names } = bench();
    expect(await everywhere(text)).toEqual(Object.fromEntries(names.map((name) => [name, Date.parse(iso)])));
  });

  it.each([
    "2026-03-06T09:00",
    "2026-03-06 09:00:00",
    "2026-02-30T09:00Z",
    "2026-03-06T24:01Z",
    "2026-13-01",
    "2026-03-06T09:00+99:00",
    "tomorrow",
  ])("%s is none anywhere, and the error says what is missing", async (text) => {
    const { everywhere } = bench();
    const said = /T09:00$|:00:00$/.test(text) ? /has no offset/ : /must be a time that exists/;
    const option = (name: string) =>
      expect.objectContaining({ code: "OPTION_INVALID", details: { option: name, reason: expect.stringMatching(said) } });
    const member = (pointer: string) =>
      expect.objectContaining({
        code: "SCHEDULE_INVALID",
        details: expect.objectContaining({ issues: [{ pointer, message: expect.stringMatching(said) }] }),
      });
    expect(await everywhere(text)).toEqual({
      ...{ start: option("startAt"), deadline: option("deadline") },
      ...{ at: member("/at"), startAt: member("/startAt"), endAt: member("/endAt") },
      ...{ wait: "MOMENT_INVALID", race: "MOMENT_INVALID", date: "EXPRESSION_FAILED", DateTime: "EXPRESSION_FAILED" },
    });
  });

  it("also in a backfill, whose errors name the end that is meant", async () => {
    const { runtime, environment } = bench();
    await runtime.schedules.create("hourly", { workflow: "job", cron: "0 * * * *", zone: "Europe/Vienna" });
    await environment.advance(3 * 3_600_000);
    await expect(runtime.schedules.backfill("hourly", { from: "2026-03-05T09:00", to: "2026-03-05 10:00+00" })).rejects.toThrow(
      'Option "from" has no offset',
    );
    await runtime.schedules.backfill("hourly", { from: "2026-03-05 09:30:00+00", to: "2026-03-05t10:00:00z", overlap: "allow" });
    await environment.advance(60_000);
    expect((await runtime.list({ idPrefix: "hourly@2026-03-05T10" })).items).toHaveLength(1);
  });

  it("a text that the schema format accepts is a moment to wait for, also the last second of a year that has one more", async () => {
    const { runtime, everywhere } = bench();
    for (const at of ["2026-03-06T09:00:00.283185Z", "2026-03-06t09:00:00z", "2026-12-31T23:59:60Z", "1969-07-20T20:17:40Z"]) {
      await runtime.start("dated", { workflowId: at, input: at });
      const { wait, date } = (await everywhere(at)) as { wait: number | string; date: number };
      expect([at, wait === "at once" ? date < begins : wait]).toEqual([at, wait === "at once" ? true : date]);
    }
    await expect(runtime.start("dated", { workflowId: "local", input: "2026-03-06T09:00:00" })).rejects.toMatchObject({
      code: "INPUT_INVALID",
    });
  });
});
