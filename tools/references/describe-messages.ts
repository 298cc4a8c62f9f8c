import { readFileSync } from 'node:fs';
import { code, markdownTable } from './markdown-table.ts';

const CATALOGUES: Readonly<Record<string, string>> = {
  webhook: 'test/webhook/messages.golden',
  agent: 'test/agent/messages.golden',
};
const INTRODUCTION = `# Messages

What the webhook and the agent say, with example values: in answers, Events, conditions, the log and errors. A code stands in \`because.code\`, in audit annotations and in metrics.

This page is generated from the catalogues of messages in the code (\`npm run generate\`).
`;

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
  return sections.map(describeSection).join('\n');
}

/** A section has a heading `Name: what is before the first colon of a line`. */
function describeSection(section: string): string {
  const [heading = '', ...lines] = section.split('\n').filter((line) => line !== '');
  const [name = '', columns = ''] = heading.split(': ');
  const labels = columns.split(', ').slice(0, -1).join(', ');
  const rows = lines.map((line) => {
    const at = line.indexOf(': ');
    if (at === -1) throw new Error(`cannot describe message "${line}": expected a name and a colon before it`);
    return [code(line.slice(0, at)), line.slice(at + 2)];
  });
  return `### ${name}\n\n${markdownTable([labels, 'message'], rows)}`;
}
