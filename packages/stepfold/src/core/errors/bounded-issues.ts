import { cutText } from "./cut-text.ts";
import type { SchemaIssue } from "./schema-issue.ts";

/** The most characters of all issues of one value together, so that no answer to a caller is much longer than what he sent. */
const maxLength = 8_000;
const maxPointerLength = 500;
const maxMessageLength = 500;

/**
 * Returns the first issues of a value, each cut to 500 characters for its pointer and 500 for its message, and together to about 8,000. If
 * there are more, one more issue says so. The issues are asked for one by one, so what is left out need not be made.
 */
export function boundedIssues(issues: Iterable<SchemaIssue>): readonly SchemaIssue[] {
  const kept: SchemaIssue[] = [];
  let left = maxLength;
  for (const { pointer, message } of issues) {
    const issue = { pointer: cutText(pointer, maxPointerLength), message: cutText(message, maxMessageLength) };
    left -= issue.pointer.length + issue.message.length;
    if (left < 0) {
      kept.push({ pointer: "", message: "has more mistakes, which are not listed" });
      break;
    }
    kept.push(issue);
  }
  return kept;
}
