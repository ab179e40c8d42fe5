import type { ExpressionLanguage } from "../core/definition/template.ts";
import { executionScope } from "./compile/scope.ts";
import { compileTemplate } from "./compile-template.ts";

/** The `{{ }}` language, as `compile` takes it. */
export const expressionLanguage: ExpressionLanguage = Object.freeze({ compileTemplate, executionScope });
