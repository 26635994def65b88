/** Runs one row, in whatever namespace it was started: an order as JSON in the first argument, a file for the report in the second. */

import { writeFileSync } from "node:fs"
import { ROWS } from "./catalogue.ts"
import { type RowOrder, runRow } from "./scenario/row.ts"

const [order, file] = [JSON.parse(process.argv[2] ?? "{}") as RowOrder, process.argv[3] ?? ""]
const row = ROWS.find(({ id }) => id === order.id)
if (row === undefined) throw new Error(`there is no row ${order.id}`)
writeFileSync(file, JSON.stringify(await runRow(row, order), null, 1))
// Whatever a client left open must not keep the run from its end.
process.exit(0)
