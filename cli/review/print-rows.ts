import { type Answer, listDocument } from '#cli/output/answer.ts';
import { formatTable, printable } from '#cli/output/table.ts';
import type { Row } from './row.ts';

/** What a review answers. */
export function reviewAnswer(rows: readonly Row[]): Answer {
  return {
    document: listDocument('ReviewResult', rows),
    table: (isWide) => printTable(rows, isWide),
    names: rows.map(({ resource }) => resource),
  };
}

/** With a table, warnings go to standard error, as with kubectl. */
export function warningLines(rows: readonly Row[]): readonly string[] {
  return rows.flatMap(({ object, warnings }) => warnings.map((warning) => printable(`Warning: ${object}: ${warning}`)));
}

function printTable(rows: readonly Row[], isWide: boolean): string {
  const header = ['OBJECT', 'ALLOWED', 'CODE', ...(isWide ? ['PATCH'] : []), 'MESSAGE'];
  return formatTable(
    header,
    rows.map(({ object, allowed, code, message, patch }) => {
      const changes = isWide ? [patch.length === 0 ? '<none>' : JSON.stringify(patch)] : [];
      return [object, String(allowed), String(code), ...changes, message];
    }),
  );
}
