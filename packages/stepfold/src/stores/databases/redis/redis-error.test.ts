import { describe, expect, it } from "vitest";
import { serverError } from "./redis-error.ts";

const errorOf = (message: string): string => serverError("redis", Object.assign(new Error(message))).code;

describe("what a Redis server or the way to it says", () => {
  it.each([
    "LOADING Redis is loading the dataset in memory",
    "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
    "READONLY You can't write against a read only replica.",
    "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
    "NOREPLICAS Not enough good replicas to write.",
    "CLUSTERDOWN The cluster is down",
    "CLUSTERDOWN Hash slot not served",
    "TRYAGAIN Multiple keys request during rehashing of slot",
    "OOM command not allowed when used memory > 'maxmemory'. script: 0a1b, on @user_script:12.",
    "ERR Error running script (call to f_0a1b): @user_script:12: @user_script: 12: -OOM command not allowed when used memory > 'maxmemory'.",
    "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk.",
    "ERR max number of clients reached",
    "ERR max daily request limit exceeded. Limit: 10000, Usage: 10000.",
    "ERR max requests limit exceeded. Limit: 500000, Usage: 500001.",
    "Connection is closed.",
    "connect ECONNREFUSED 127.0.0.1:6379",
    "read ECONNRESET",
    "Reached the max retries per request limit (which is 20).",
    "Command timed out",
    "Socket closed unexpectedly",
    "The client is closed",
    "Connection timeout",
  ])("may pass: %s", (message) => {
    expect(errorOf(message)).toBe("STORE_UNAVAILABLE");
  });

  it.each([
    "WRONGTYPE Operation against a key holding the wrong kind of value",
    "ERR Error running script (call to f_0a1b): @user_script:7: WRONGTYPE Operation against a key holding the wrong kind of value",
    "NOAUTH Authentication required.",
    "WRONGPASS invalid username-password pair or user is disabled.",
    "NOPERM this user has no permissions to run the 'evalsha' command",
    "ERR The user executing the script can't run this command or subcommand script: 0a1b, on @user_script:9.",
    "CROSSSLOT Keys in request don't hash to the same slot",
    "MOVED 3999 127.0.0.1:6381",
    "ERR unknown command 'EVALSHA', with args beginning with: 'secret'",
    "ERR max request size exceeded. Limit: 10485760 bytes, Actual: 10485761 bytes.",
  ])("is somebody's mistake: %s", (message) => {
    expect(errorOf(message)).toBe("STORE_REJECTED");
  });

  it("is a mistake where the client refuses what it is given, and an outage where fetch finds nobody", () => {
    expect(serverError("redis", new TypeError('"arguments[0]" must be of type "string | Buffer"')).code).toBe("STORE_REJECTED");
    expect(serverError("upstash", new TypeError("fetch failed")).code).toBe("STORE_UNAVAILABLE");
  });

  it("is told as what happened, where the client only tells a setting of its own", () => {
    const retries = 'Reached the max retries per request limit (which is 6). Refer to "maxRetriesPerRequest" option for details.';
    expect(serverError("redis", new Error(retries)).details).toEqual({ store: "redis", reason: "the client could not connect" });
  });

  it("is told without values of users, and says what to do", () => {
    const cause = new Error('OOM command not allowed, command was: ["evalsha","a card number"]');
    const error = serverError("upstash", cause);
    expect(error.message).toContain("raise maxmemory, or prune");
    expect(JSON.stringify(error)).not.toContain("card");
    expect(error.cause).toBeUndefined();
    expect(serverError("redis", new Error("ERR unknown command 'X', with args beginning with: 'a card number'")).message).not.toContain(
      "card",
    );
  });
});
