import ts from 'typescript';
import { changesAt, type Mutation } from './mutation-operators.ts';

/** A source with one small mistake in it. */
export interface Mutant {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly from: string;
  readonly to: string;
  /** The whole source with the mistake. */
  readonly text: string;
  readonly change: Mutation;
}

/** Every mutant of a source, from its top to its end; types and imports have none. */
export function listMutants(file: string, text: string): readonly Mutant[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const changes: Mutation[] = [];
  collect(source, changes);
  const mutants = changes.map((change) => mutantOf(source, change));
  return mutants.filter((mutant, index) => mutants.findIndex((other) => other.text === mutant.text) === index);
}

function collect(node: ts.Node, changes: Mutation[]): void {
  if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isInterfaceDeclaration(node)) return;
  changes.push(...changesAt(node));
  ts.forEachChild(node, (child) => collect(child, changes));
}

function mutantOf(source: ts.SourceFile, change: Mutation): Mutant {
  const { node, replacement } = change;
  const [start, end] = [node.getStart(source), node.getEnd()];
  return {
    file: source.fileName,
    line: source.getLineAndCharacterOfPosition(start).line + 1,
    from: source.text.slice(start, end),
    to: replacement,
    text: source.text.slice(0, start) + replacement + source.text.slice(end),
    change,
  };
}
