//! The whole command line, with the few places where a shared flag has another default or another name.

use clap::CommandFactory;
use clap::builder::Resettable;

use super::Cli;
use super::values::demo_rows;

/// The whole command line.
pub fn command() -> clap::Command {
    Cli::command()
        .mut_subcommand("demo", |demo| {
            demo.mut_arg("epsilon", |flag| flag.required(false).default_value("1"))
                .mut_arg("rows", |flag| {
                    flag.default_value("20000")
                        .value_parser(demo_rows)
                        .help("Patients to simulate, and synthetic rows to draw")
                })
                .mut_arg("seed", |flag| {
                    flag.default_value("1").help("Seeds the simulation and the draw, never the privacy noise")
                })
        })
        .mut_subcommand("schema", |schema| {
            schema.mut_arg("no_header", |flag| flag.help("DATA has no line with names: columns are numbered instead"))
        })
        .mut_subcommand("fit", |fit| {
            fit.mut_arg("output", |flag| {
                flag.required(true).default_value(Resettable::Reset).help("The model to write, or `-` for stdout")
            })
        })
        .mut_subcommand("evaluate", |evaluate| {
            evaluate
                .override_usage(
                    "sunprint evaluate [OPTIONS] --schema <FILE> <REAL> <SYNTH>\n       \
                     sunprint evaluate --public --model <MODEL> --report <FILE>",
                )
                .mut_arg("input", |table| {
                    // Changing an argument puts it behind the others, so its place is said.
                    optional(
                        table
                            .index(1)
                            .value_name("REAL")
                            .help("The real table, which comes first: a file, or `-` for stdin"),
                    )
                })
                .mut_arg("schema", optional)
                .mut_arg("no_header", |flag| {
                    flag.help("REAL has no line with names: its columns are those of the schema, in the same order")
                })
                .mut_arg("header", |flag| {
                    flag.help("REAL has no line with names, and they stand in this file: on one line, or one on each")
                })
                .mut_arg("report", |flag| flag.help("Write one HTML page that shows the whole comparison"))
                .mut_arg("format", |flag| {
                    flag.help("Format of REAL: csv, tsv, csv.gz, csv.zst, parquet or arrow [default: by its extension]")
                })
        })
}

/// Not needed for the page that may be published, which opens no table.
fn optional(flag: clap::Arg) -> clap::Arg {
    flag.required(false).required_unless_present("public").default_value("-").hide_default_value(true)
}

/// The names of the commands.
pub fn names() -> Vec<String> {
    Cli::command().get_subcommands().map(|command| command.get_name().to_owned()).collect()
}
