//! The columns of the simulated clinic: names, units, and the bounds that any physician could have written down
//! without seeing a single patient.

/// One measured quantity.
pub struct Quantity {
    /// The column's name, unit included.
    pub name: &'static str,
    /// What a reader calls it.
    pub title: &'static str,
    /// The lowest plausible value.
    pub min: f64,
    /// The highest plausible value.
    pub max: f64,
    /// Digits after the point, as the laboratory reports them; 0 makes an integer column.
    pub decimals: usize,
}

/// The number of quantities.
pub const QUANTITIES: usize = 40;

/// The diagnoses, in the order of the schema.
pub const DIAGNOSES: [&str; 4] = ["healthy", "diabetes", "infection", "kidney disease"];

/// Every quantity in file order.
#[rustfmt::skip]
pub const COLUMNS: [Quantity; QUANTITIES] = [
    of("age_years",                "age, years",                18.0,  100.0, 0),
    of("height_cm",                "height, cm",               135.0,  210.0, 0),
    of("weight_kg",                "weight, kg",                35.0,  180.0, 1),
    of("bmi_kg_m2",                "body mass index, kg/m²",    14.0,   60.0, 1),
    of("waist_cm",                 "waist, cm",                 50.0,  160.0, 0),
    of("systolic_mmhg",            "systolic pressure, mmHg",   80.0,  220.0, 0),
    of("diastolic_mmhg",           "diastolic pressure, mmHg",  40.0,  130.0, 0),
    of("heart_rate_bpm",           "heart rate, beats/min",     40.0,  150.0, 0),
    of("breaths_per_min",          "breathing rate, /min",       8.0,   40.0, 0),
    of("temperature_c",            "temperature, °C",           35.0,   41.5, 1),
    of("oxygen_saturation_pct",    "oxygen saturation, %",      80.0,  100.0, 0),
    of("haemoglobin_g_l",          "haemoglobin, g/L",          60.0,  200.0, 0),
    of("haematocrit_pct",          "haematocrit, %",            18.0,   60.0, 1),
    of("red_cells_10e12_l",        "red cells, 10¹²/L",          2.0,    7.0, 2),
    of("red_cell_volume_fl",       "red cell volume, fL",       65.0,  115.0, 0),
    of("red_cell_width_pct",       "red cell width, %",         10.0,   22.0, 1),
    of("white_cells_10e9_l",       "white cells, 10⁹/L",         1.0,   30.0, 1),
    of("neutrophils_10e9_l",       "neutrophils, 10⁹/L",         0.5,   25.0, 1),
    of("lymphocytes_10e9_l",       "lymphocytes, 10⁹/L",         0.2,    6.0, 1),
    of("platelets_10e9_l",         "platelets, 10⁹/L",          50.0,  600.0, 0),
    of("ferritin_ug_l",            "ferritin, µg/L",             5.0,  800.0, 0),
    of("c_reactive_protein_mg_l",  "C-reactive protein, mg/L",   0.0,  200.0, 1),
    of("sedimentation_mm_h",       "sedimentation, mm/h",        1.0,  120.0, 0),
    of("fasting_glucose_mmol_l",   "fasting glucose, mmol/L",    3.0,   20.0, 1),
    of("hba1c_pct",                "HbA1c, %",                   4.0,   14.0, 1),
    of("cholesterol_mmol_l",       "cholesterol, mmol/L",        2.0,   10.0, 1),
    of("ldl_mmol_l",               "LDL cholesterol, mmol/L",    0.5,    7.5, 1),
    of("hdl_mmol_l",               "HDL cholesterol, mmol/L",    0.5,    3.0, 2),
    of("triglycerides_mmol_l",     "triglycerides, mmol/L",      0.3,    8.0, 1),
    of("uric_acid_umol_l",         "uric acid, µmol/L",        100.0,  750.0, 0),
    of("creatinine_umol_l",        "creatinine, µmol/L",        30.0,  500.0, 0),
    of("egfr_ml_min",              "filtration rate, mL/min",    5.0,  140.0, 0),
    of("urea_mmol_l",              "urea, mmol/L",               1.0,   35.0, 1),
    of("potassium_mmol_l",         "potassium, mmol/L",          2.5,    7.0, 1),
    of("sodium_mmol_l",            "sodium, mmol/L",           120.0,  155.0, 0),
    of("bicarbonate_mmol_l",       "bicarbonate, mmol/L",       10.0,   38.0, 0),
    of("calcium_mmol_l",           "calcium, mmol/L",            1.8,    3.0, 2),
    of("alt_u_l",                  "ALT, U/L",                   5.0,  150.0, 0),
    of("ggt_u_l",                  "GGT, U/L",                   5.0,  200.0, 0),
    of("albumin_g_l",              "albumin, g/L",              20.0,   55.0, 0),
];

const fn of(name: &'static str, title: &'static str, min: f64, max: f64, decimals: usize) -> Quantity {
    Quantity { name, title, min, max, decimals }
}

/// The place of a column.
///
/// # Panics
/// If there is no such column, which the tests rule out for every name in use.
pub fn place(name: &str) -> usize {
    COLUMNS.iter().position(|column| column.name == name).expect("a column of the clinic")
}
