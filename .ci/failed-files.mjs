// failed-files.mjs REPORT: prints the path of each file that failed, one per line.
import { judge } from './report.mjs';

for (const file of judge(process.argv[2]).failed) console.log(file.name);
