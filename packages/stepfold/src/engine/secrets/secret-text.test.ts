import { describe, expect, it } from "vitest";
import { secretsIn } from "./secret-text.ts";

const pem = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADAN\n-----END PRIVATE KEY-----";
const hex = "9f86d081884c7d659a2feaa0c55ad015";

describe("a text that is a secret by its looks", () => {
  // the tokens are put together here, so that no scanner takes this file for a leak
  it.each<string>([
    `sk_${"live"}_4eC39HqLyjWDarjtT1zdp7dc`,
    `rk_${"live"}_4eC39HqLyjWDarjtT1zdp7dc`,
    `sk-${"proj"}-abcDEF123456abcDEF123456`,
    `ghp_${"16C7e42F292c6912E7710c838347Ae178B4a"}`,
    `github_pat_${"11ABCDEFG0abcdefghijkl_mnopqrstuvwxyz"}`,
    `glpat-${"abcdefghijklmnopqrst"}`,
    `xoxb-${"123456789012-abcdefghij"}`,
    `AKIA${"IOSFODNN7EXAMPLE"}`,
    `AIza${"SyA1234567890abcdefghijklmnopqrstuv"}`,
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
    `npm_${"abcdefghijklmnopqrstuvwxyz0123456789"}`,
    `SG.${"abcdefghijklmnop.qrstuvwxyz0123456789"}`,
    `whsec_${"MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}`,
    "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    hex,
    "P@ssw0rd!2026#Prod",
    "Summer!2026#Winter",
    pem,
    `{"type":"service_account","private_key":"${pem.replaceAll("\n", "\\n")}"}`,
  ])("%s", (text) => {
    expect(secretsIn(text)).toContain(text);
  });

  it.each<[text: string, secrets: readonly string[]]>([
    ["postgres://app:hunter2-hunter2@db.example:5432/app", ["hunter2-hunter2"]],
    ["postgres://app:p%40ss%2Fword@db.example/app", ["p%40ss%2Fword", "p@ss/word"]],
    ["redis://:hunter2@cache.example", ["hunter2"]],
    [`https://${hex}@o1.ingest.example/42`, [hex]],
    [`https://hooks.example/services/T0000/B0000/${hex}`, [hex]],
    [`https://maps.example/js?v=3&id=${hex}#top`, [hex]],
    ["https://x.example/%zz", []],
    ["Server=db;User=sa;Password=hunter22;Encrypt=true", ["hunter22"]],
    ["DefaultEndpointsProtocol=https;AccountName=a;AccountKey=abcdef==;x=1", ["abcdef=="]],
    ["Bearer abcdefgh", ["abcdefgh"]],
    [`see ghp_${"16C7e42F292c6912E7710c838347Ae178B4a"} there`, [`ghp_${"16C7e42F292c6912E7710c838347Ae178B4a"}`]],
  ])("in %s is only its part", (text, secrets) => {
    expect(secretsIn(text)).toEqual(secrets);
  });
});

describe("a text that is no secret", () => {
  it.each<string>([
    "",
    "ada",
    "correct horse battery staple",
    "eu-central-1",
    "order-flow-2026-retry",
    "orderFlowRetry2026",
    "sk-learn-model-classifier",
    "stepfold@1.2.3-beta.4",
    "arn:aws:sqs:eu-central-1:123456789012:orders-queue2",
    "registry.example.com/team/app:1.2.3",
    "node-v24.21.0-linux-x64.tar.gz",
    "/usr/lib/x86_64-linux-gnu/libc.so.6",
    "C:\\Users\\ada2\\Documents\\report.pdf",
    "https://api.example.com/v1/orders/2026?limit=100",
    "http://127.0.0.1:8080/health",
    "https://a1b2c3d4e5f6.cdn.example/index.html",
    "postgres://db.internal.example:5432/orders",
    "smtp1a2b.mail-server-01.example.com:587",
    "billing.team2026a1b@example.com",
    "2026-11-28T19:16:06.000Z",
    "2026-11-28 19:16:06+01:00",
    "550e8400-e29b-41d4-a716-446655440000",
    "order-550e8400-e29b-41d4-a716-446655440000",
    "2001:0db8:85a3:0000:0000:8a2e:0370:7334",
    "+4915112345678901",
    '{"limit":10,"page":2,"a1b2":"x"}',
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAA",
    "Hello {{ name }}, your order 7 is on its way",
    "заказ-2026-поставка-7",
  ])("%s", (text) => {
    expect(secretsIn(text)).toEqual([]);
  });

  it("is data, if it is long", () => {
    expect(secretsIn("k7Fq2mZ".repeat(2_000))).toEqual([]);
  });
});
