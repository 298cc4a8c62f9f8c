import { stringify } from 'yaml';
import type { OutputFormat } from '#cli/output.ts';
import { formatTable, printable } from '#cli/table.ts';
import type { Row } from './row.ts';

/** What goes to standard output and what to standard error; only a table keeps warnings apart, as kubectl does. */
export interface Printed {
  readonly output: string;
  readonly warnings: readonly string[];
}

export function printRows(rows: readonly Row[], format: OutputFormat): Printed {
  switch (format) {
    case 'json':
      return { output: `${JSON.stringify(rows, undefined, 2)}\n`, warnings: [] };
    case 'yaml':
      return { output: stringify(rows, { lineWidth: 0, aliasDuplicateObjects: false }), warnings: [] };
    case 'table':
      return { output: printTable(rows), warnings: rows.flatMap(warningsOf) };
  }
}

function printTable(rows: readonly Row[]): string {
  const cells = rows.map(({ object, allowed, code, message }) => [object, String(allowed), String(code), message]);
  return formatTable(['OBJECT', 'ALLOWED', 'CODE', 'MESSAGE'], cells);
}

function warningsOf({ object, warnings }: Row): readonly string[] {
  return warnings.map((warning) => printable(`Warning: ${object}: ${warning}`));
}
