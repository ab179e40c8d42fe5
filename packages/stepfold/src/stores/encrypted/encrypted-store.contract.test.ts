import { wrappedContract } from "../values/wrapped-bench.fixture.ts";
import { encryptedStore } from "./index.ts";

const keys = [{ id: "2026-01", key: crypto.getRandomValues(new Uint8Array(32)) }];
const searchKey = crypto.getRandomValues(new Uint8Array(32));

wrappedContract("encrypted", (inner) => encryptedStore(inner, { keys, searchKey }));
