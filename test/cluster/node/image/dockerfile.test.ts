import { describe, expect, test } from 'vitest';
import { readDockerfile } from './dockerfile.ts';

const TEXT = `# a comment
FROM base AS first
WORKDIR /elsewhere
ENV MODE=test
COPY package.json .npmrc ./
RUN npm ci
RUN node as-root.ts
COPY deploy/crds deploy/crds
USER 1:1
RUN node --flag=1 main.ts --help > /dev/null \\
  && node other.ts > /dev/null

FROM other
WORKDIR /app
ENV MODE=production CACHE=/var/tmp/cache
COPY --from=first /made made
USER 65532:65532
`;

describe('readDockerfile', () => {
  test('takes files and commands of every stage, and the settings of the last', () => {
    expect(readDockerfile(TEXT)).toEqual({
      workingFolder: '/app',
      environment: { MODE: 'production', CACHE: '/var/tmp/cache' },
      user: '65532:65532',
      copies: [
        ['package.json', 'package.json'],
        ['.npmrc', '.npmrc'],
        ['deploy/crds', 'deploy/crds'],
      ],
      commands: [
        { words: ['node', 'as-root.ts'], user: '0' },
        { words: ['node', '--flag=1', 'main.ts', '--help'], user: '1:1' },
        { words: ['node', 'other.ts'], user: '1:1' },
      ],
    });
  });

  test('refuses an instruction that it cannot follow', () => {
    expect(() => readDockerfile('FROM base\nVOLUME /data')).toThrow('cannot follow "VOLUME" of the Dockerfile');
  });
});
