import { readFileSync } from 'node:fs';
import { code, markdownTable } from './markdown-table.ts';

const CATALOGUES: Readonly<Record<string, string>> = {
  webhook: 'test/webhook/messages.golden',
  agent: 'test/agent/messages.golden',
  controller: 'test/shared/domain/gang/messages.golden',
};
const INTRODUCTION = `# Messages

What a code means, by the sentence that goes with it, with example values. A code stands in \`because.code\`, in conditions, audit annotations and metrics.

This page is generated from the catalogues of messages in the code (\`npm run generate\`).
`;

/** Sections whose codes people look up. */
const SHOWN = ['Decisions', 'Reasons', 'Gangs'];

/** The messages of each process from its golden file; a test compares those files with the code. */
export function repositoryMessages(): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(CATALOGUES).map(([process, file]) => [process, readFileSync(file, 'utf8')]));
}

/** The reference page of all messages, in Markdown. */
export function describeMessages(messages: Readonly<Record<string, string>>): string {
  const processes = Object.entries(messages).map(([process, text]) => `## The ${process}\n\n${describeSections(text)}`);
  return [INTRODUCTION, ...processes].join('\n');
}

function describeSections(golden: string): string {
  const sections = golden.split(/^# /m).filter((section) => section.trim() !== '');
  const shown = sections.filter((section) => SHOWN.some((name) => section.startsWith(`${name}: `)));
  return shown.map(describeSection).join('\n');
}

/** A section has a heading `Name: what is before the first colon of a line`. */
function describeSection(section: string): string {
  const [heading = '', ...lines] = section.split('\n').filter((line) => line !== '');
  const [title = '', columns = ''] = heading.split(': ');
  const labels = columns.split(', ').slice(0, -1).join(', ');
  const rows = lines.map(readLine);
  // One code has several sentences; the first says what it means.
  const first = rows.filter(([name], index) => rows.findIndex(([other]) => other === name) === index);
  return `### ${title}\n\n${markdownTable([labels, 'message'], first)}`;
}

function readLine(line: string): readonly [name: string, message: string] {
  const at = line.indexOf(': ');
  if (at === -1) throw new Error(`cannot describe message "${line}": expected a name and a colon before it`);
  return [code(line.slice(0, at)), line.slice(at + 2)];
}
