import type { D1Database, DurableObjectStorage } from "@cloudflare/workers-types";
import { expectTypeOf } from "vitest";
import type { D1Client } from "../../../src/stores/databases/d1/index.ts";
import type { ObjectStorage } from "../../../src/stores/databases/durable-object/index.ts";

// the stores take Cloudflare's own bindings
expectTypeOf<D1Database>().toExtend<D1Client>();
expectTypeOf<DurableObjectStorage>().toExtend<ObjectStorage>();
