import { afterEach, describe, expect, it } from "vitest";
import { asUtc } from "../../src/core/values/timestamp.ts";
import type { ScheduleSpec } from "../../src/runtime/context/schedules.ts";
import { applyCommand } from "../../src/schedules/commands.ts";
import { readSpec } from "../../src/schedules/spec.ts";
import { initialState } from "../../src/schedules/state.ts";
import { isZone, zoneClock } from "../../src/schedules/zone-clock.ts";
import { virtualEnvironment } from "../../src/testing/virtual-environment.ts";
import { closeAll, day, scheduling, startsOf } from "./schedules.fixture.ts";

afterEach(closeAll);

const base = { workflow: "quick" };
const read = (more: Partial<ScheduleSpec>) => readSpec("s", { ...base, ...more });
const iso = (at: unknown): string => new Date(at as number).toISOString();
const issuesOf = (more: object): unknown => {
  try {
    readSpec("s", { ...base, ...more });
  } catch (error) {
    return (error as { details: { issues: { pointer: string; message: string }[] } }).details.issues.map(
      ({ pointer, message }) => `${pointer} ${message}`,
    );
  }
  return [];
};

describe("a time without an offset, beside a zone", () => {
  it.each<[zone: string, text: string, moment: string]>([
    ["America/New_York", "2026-03-10T10:00", "2026-03-10T14:00:00.000Z"],
    ["America/New_York", "2026-01-10 10:00:00", "2026-01-10T15:00:00.000Z"],
    ["Europe/Vienna", "2026-03-10", "2026-03-09T23:00:00.000Z"],
    // with an offset it needs no zone
    ["Europe/Vienna", "2026-03-10T10:00Z", "2026-03-10T10:00:00.000Z"],
    ["Europe/Vienna", "2026-03-10 10:00:00+09", "2026-03-10T01:00:00.000Z"],
    // the clocks leave the time out: their change
    ["America/New_York", "2026-03-08T02:30:15", "2026-03-08T07:00:00.000Z"],
    ["Europe/Berlin", "2026-03-29T02:00", "2026-03-29T01:00:00.000Z"],
    ["Australia/Lord_Howe", "2026-10-04T02:15", "2026-10-03T15:30:00.000Z"],
    ["America/Santiago", "2026-09-06", "2026-09-06T04:00:00.000Z"],
    // the clocks show the time twice: the first one
    ["America/New_York", "2026-11-01T01:30", "2026-11-01T05:30:00.000Z"],
    ["Australia/Lord_Howe", "2026-04-05T01:45", "2026-04-04T14:45:00.000Z"],
    ["UTC", "2026-03-10T10:00", "2026-03-10T10:00:00.000Z"],
  ])("in %s, %s is %s", (zone, text, moment) => {
    for (const member of ["startAt", "endAt"]) {
      expect(iso(read({ cron: "0 9 * * *", zone, [member]: text })[member as "startAt"])).toBe(moment);
      expect(iso(read({ every: "1h", zone, [member]: text })[member as "startAt"])).toBe(moment);
    }
    expect(read({ at: text, zone })).not.toHaveProperty("zone");
    expect(iso(read({ at: text, zone }).at)).toBe(moment);
  });

  it("ends and begins a schedule by the clock of its zone", async () => {
    const { runtime, store, environment } = scheduling({}, virtualEnvironment(Date.parse("2026-03-09T00:00:00Z")));
    const made = await runtime.schedules.create("s", {
      ...{ workflow: "quick", cron: "0 9 * * *", zone: "America/New_York" },
      ...{ startAt: "2026-03-10T10:00", endAt: "2026-03-12T09:00" },
    });
    expect(made.nextTicks.map(iso)).toEqual(["2026-03-11T13:00:00.000Z", "2026-03-12T13:00:00.000Z"]);
    await runtime.close();
    // another process reads nothing anew: the stored specification has moments
    const other = scheduling({ store }, environment);
    expect(await other.runtime.schedules.create("s", { ...made.spec })).toEqual(made);
    await environment.advance(5 * day);
    expect(await startsOf(store, "s")).toEqual(["2026-03-11T13:00:00Z", "2026-03-12T13:00:00Z"]);
  });

  it("is read in the zone of the schedule when it is edited, unless that zone is only the default", async () => {
    const { runtime } = scheduling();
    const { schedules } = runtime;
    await schedules.create("zoned", { ...base, cron: "0 9 * * *", zone: "Europe/Vienna" });
    expect(iso((await schedules.edit("zoned", { endAt: "2026-07-01T09:00" })).spec.endAt)).toBe("2026-07-01T07:00:00.000Z");
    await schedules.create("plain", { ...base, cron: "0 9 * * *" });
    const refused = {
      code: "SCHEDULE_INVALID",
      details: { issues: [{ pointer: "/endAt", message: expect.stringContaining("Or give a zone") }] },
    };
    await expect(schedules.edit("plain", { endAt: "2026-07-01T09:00" })).rejects.toMatchObject(refused);
    expect((await schedules.edit("plain", { endAt: "2026-07-01T09:00", zone: "UTC" })).spec).toMatchObject({
      ...{ zone: "UTC", endAt: Date.parse("2026-07-01T09:00:00Z") },
    });
    expect((await schedules.edit("plain", { cron: "0 8 * * *" })).spec).toMatchObject({ zone: "UTC", cron: ["0 8 * * *"] });
    await schedules.create("once", { ...base, at: "2026-07-01T09:00", zone: "Europe/Vienna" });
    expect(iso((await schedules.edit("once", { at: "2026-07-02", zone: "Asia/Kathmandu" })).spec.at)).toBe("2026-07-01T18:15:00.000Z");
  });

  it("means what it meant where an earlier version has sent it, but has not applied it", () => {
    const state = initialState("s", read({ every: "1h" }), 0, false);
    const edit = { type: "edit", at: 5, changes: { startAt: "2026-03-10T10:00" } } as const;
    expect(applyCommand(state, edit, 5)).toMatchObject({ problems: [], spec: { startAt: Date.parse("2026-03-10T10:00:00Z") } });
    expect(readSpec("s", { ...base, at: "2026-03-10" }, asUtc).at).toBe(Date.parse("2026-03-10"));
  });
});

describe("a time without an offset, and without a zone", () => {
  it("is refused where it stands", () => {
    const said = (pointer: string) =>
      `/${pointer} has no offset, and may mean local time: write 2026-11-22T02:00:00Z for UTC, or an offset such as +01:00 in place of the Z. Or give a zone`;
    expect(issuesOf({ at: "2026-03-10T10:00" })).toEqual([said("at")]);
    const both = { startAt: "2026-03-10T10:00", endAt: "2026-04-10 10:00" };
    expect(issuesOf({ cron: "0 9 * * *", ...both })).toEqual([said("startAt"), said("endAt")]);
    expect(issuesOf({ every: "1h", ...both })).toEqual([said("startAt"), said("endAt")]);
    // a date is midnight UTC
    expect(read({ every: "1h", startAt: "2026-03-10" }).startAt).toBe(Date.parse("2026-03-10"));
  });
});

describe("a zone", () => {
  it.each(["Mars/Olympus", "", "Europe/Vienna\n", "../../etc", "x".repeat(100), 5, null])("that there is not is refused: %j", (zone) => {
    expect(isZone(zone)).toBe(false);
    const where = { zone, startAt: 5 };
    const said = ['/zone must be a time zone such as "Europe/Vienna"'];
    expect([issuesOf({ cron: "0 9 * * *", ...where }), issuesOf({ every: "1h", ...where })]).toEqual([said, said]);
  });

  it("is refused where nothing is read in it", () => {
    const said = ["/zone is only allowed together with `cron`, or with a time as text"];
    expect([issuesOf({ every: "1h", zone: "UTC" }), issuesOf({ at: 9e12, zone: "UTC" })]).toEqual([said, said]);
  });

  it("has clocks for every moment, and only so many zones and times are kept", () => {
    const zones = Intl.supportedValuesOf("timeZone");
    for (const zone of zones) expect(Math.abs(zoneClock(zone).offsetAt(0))).toBeLessThanOrEqual(14 * 3_600_000);
    const clock = zoneClock("Europe/Vienna");
    for (let at = -day; at < 6_000 * day; at += 2 * day) expect([3_600_000, 7_200_000]).toContain(clock.offsetAt(at));
    expect(clock.offsetAt(8.64e15)).toBe(7_200_000);
    expect(clock.firstAt(clock.latestShownBy(8.64e15))).toBe(8.64e15);
  });
});
