import { readdirSync, readFileSync } from 'node:fs';
import { EVENT_REASONS, REPORTING_CONTROLLERS } from '#shared/kube/api-names.ts';
import { EVENT_MEANINGS } from './event-meanings.ts';
import { code, markdownTable } from './markdown-table.ts';

const INTRODUCTION = `# Events

Find those of one process with \`kubectl get events -A --field-selector reportingComponent=plimsoll.dev/agent\`. Similar Events of one object become a series.

This page is generated from the code (\`npm run generate\`).
`;
const HEADER = ['reason', 'type', 'about', 'reported by', 'meaning'];
type ReasonKey = keyof typeof EVENT_REASONS;
type ReportingProcess = keyof typeof REPORTING_CONTROLLERS;

/** The sources of a process, as one text. */
export type ReadSources = (component: string) => string;

/** The processes that report Events, and the text of their sources. */
export function repositorySources(component: string): string {
  const files = readdirSync(component, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  return files.map((name) => readFileSync(`${component}/${name}`, 'utf8')).join('\n');
}

/** The reference page of all Events that the sources report, in Markdown. */
export function describeEvents(read: ReadSources): string {
  const sources = Object.keys(REPORTING_CONTROLLERS).map((component) => ({ component, text: read(component) }));
  const rows = (Object.keys(EVENT_REASONS) as ReasonKey[]).flatMap((key) => {
    const reporters = sources.filter(({ text }) => text.includes(`EVENT_REASONS.${key}`)).map(nameOf);
    return reporters.length === 0 ? [] : [row(key, reporters)];
  });
  return `${INTRODUCTION}\n${markdownTable(HEADER, rows)}`;
}

function nameOf({ component }: { readonly component: string }): string {
  return code(REPORTING_CONTROLLERS[component as ReportingProcess]);
}

function row(key: ReasonKey, reporters: readonly string[]): readonly string[] {
  const { about, type = 'Warning', meaning } = EVENT_MEANINGS[key];
  return [code(EVENT_REASONS[key]), type, about, reporters.join(', '), meaning];
}
