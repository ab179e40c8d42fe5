import { describe, expect, it } from "vitest";
import { publicUrl, withoutSecrets } from "./public-url.ts";

const pw = "s3cret";

describe("publicUrl", () => {
  it.each([
    ["app.db", "app.db"],
    ["C:\\data\\app.db", "C:\\data\\app.db"],
    ["C:/data/app.db?token=1", "C:/data/app.db?token=1"],
    ["sqlite:C:\\a@b\\app.db", "sqlite:C:\\a@b\\app.db"],
    ["sqlite:///srv/app.db", "sqlite:///srv/app.db"],
    ["libsql:file:c.db", "libsql:file:c.db"],
    ["memory:", "memory:"],
    ["postgres://ada@db:5432/app?schema=keys&sslmode=require", "postgres://ada@db:5432/app?schema=keys&sslmode=require"],
    ["mongodb://h1:27017,h2:27017/app?replicaSet=rs", "mongodb://h1:27017,h2:27017/app?replicaSet=rs"],
    ["redis://[::1]:6379/0", "redis://[::1]:6379/0"],
    ["redis://:@host", "redis://:@host"],
  ])("leaves what holds no secret: %s", (url, shown) => expect(publicUrl(url)).toBe(shown));

  it.each([
    ["a password", `postgres://ada:${pw}@db/app?schema=x`, "postgres://ada:***@db/app?schema=x"],
    ["an encoded one", `postgres://ada:%40${pw}%2F@db/app`, "postgres://ada:***@db/app"],
    ["an encoded colon", `postgres://ada%3A${pw}@db/app`, "postgres://ada%3A***@db/app"],
    ["several @", `postgres://ada:${pw}@x@${pw}@db/app`, "postgres://ada:***@db/app"],
    ["a slash, a question mark and a hash in it", `mysql://ada:1/${pw}?${pw}#${pw}@db/app`, "mysql://ada:***"],
    ["digits and a slash", `mysql://ada:12/${pw}@db/app`, "mysql://ada:***@db/app"],
    ["no user", `redis://:${pw}@host:6379/0`, "redis://:***@host:6379/0"],
    ["no host", `postgres://ada:${pw}@/app?host=/var/run/postgresql`, "postgres://ada:***@/app?host=/var/run/postgresql"],
    ["the host forgotten", `postgres://ada:${pw}`, "postgres://ada:***"],
    ["the host forgotten, digits first", `postgres://ada:12${pw}/app`, "postgres://ada:***"],
    ["no slashes", `postgres:ada:${pw}@db/app`, "postgres:ada:***@db/app"],
    ["no scheme", `ada:${pw}@db/app`, "ada:***@db/app"],
    ["a unix socket", `postgres://ada:${pw}@%2Fvar%2Frun/app`, "postgres://ada:***@%2Fvar%2Frun/app"],
    ["a parameter", `postgres:///app?host=/run&user=ada&password=${pw}`, "postgres:///app?host=/run&user=ada&password=***"],
    ["an encoded parameter", `libsql://db?auth%54oken=${pw}`, "libsql://db?auth%54oken=***"],
    ["a parameter in capitals", `libsql://db?AUTHTOKEN=${pw}`, "libsql://db?AUTHTOKEN=***"],
    ["a parameter with hash", `libsql://db?authToken=${pw}#${pw}`, "libsql://db?authToken=***"],
    ["a parameter twice", `libsql://db?authToken=${pw}&a=1&authToken=${pw}`, "libsql://db?authToken=***&a=1&authToken=***"],
    ["two schemes", `libsql:http://127.0.0.1:8080?authToken=${pw}`, "libsql:http://127.0.0.1:8080?authToken=***"],
    ["two schemes with a token", `upstash:http://127.0.0.1:8079?prefix=a&token=${pw}`, "upstash:http://127.0.0.1:8079?prefix=a&token=***"],
    ["a token as user", `upstash://${pw}@host`, "upstash://***@host"],
    ["several hosts", `mongodb://ada:${pw}@h1:1,h2:2/app`, "mongodb://ada:***@h1:1,h2:2/app"],
    ["properties", `mongodb://h/app?authMechanismProperties=AWS_SESSION_TOKEN:${pw}`, "mongodb://h/app?authMechanismProperties=***"],
    ["a URL in it", `dynamodb://r/t?endpoint=http%3A%2F%2Fada%3A${pw}%40h`, "dynamodb://r/t?endpoint=http://ada:***@h"],
    ["quotes around it", `"postgres://ada:${pw}@db/app"`, "***"],
    ["a scheme that is missing", `//ada:${pw}@db/app`, "***"],
    ["a scheme that is broken", `p ostgres://ada:${pw}@db/app`, "***"],
    ["escapes all over", encodeURIComponent(`postgres://ada:${pw}@db/app`), "***"],
    ["no user and no scheme", `:${pw}@db/app`, "***"],
    ["the wrong scheme", `sqlite://ada:${pw}@db/app`, "sqlite://***"],
    ["a file of libSQL", `libsql:file:ada:${pw}@db/app`, "libsql:file:***"],
    ["capitals", `POSTGRES://ada:${pw}@db/app`, "POSTGRES://ada:***@db/app"],
    ["a space before it", ` postgres://ada:${pw}@db/app`, " postgres://ada:***@db/app"],
  ])("hides it: %s", (_how, url, shown) => {
    expect(publicUrl(url)).toBe(shown);
    expect(publicUrl(shown)).not.toContain(pw);
  });

  it("hides a password with whatever is hostile in it", () => {
    for (const left of ["", "@", ":", "/", "?", "#", "&", "%", "%zz", "a=b", "\n", "é", "[", "\\"]) {
      for (const right of ["", "@", ":", "/", "?", "#", "&", "%", "=", "]", "?token=", "\u0000"]) {
        expect(publicUrl(`postgres://ada:${left}${pw}${right}@db/app`)).not.toContain(pw);
        expect(publicUrl(`libsql://db?authToken=${left.replaceAll("&", "")}${pw}${right}`)).not.toContain(pw);
      }
    }
  });
});

describe("withoutSecrets", () => {
  it("hides the secrets of a URL in what quotes it, as they were written and decoded", () => {
    const url = "postgres://ada:p%40ss@db/app?token=t0k";
    expect(withoutSecrets(`bad: ${url}, p@ss, p%40ss, t0k`, url)).toBe("bad: postgres://ada:***@db/app?token=***, ***, ***, ***");
    expect(withoutSecrets("bad", "postgres://db")).toBe("bad");
  });
});
